/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack_message.h - what a program that links the package ghc-stack-profiler writes into USER_BINARY_MSG: samples of
 * the stacks of its threads, and the names that these refer to.
 *
 * Versions 0.4 and 0.5 write different messages and do not say which they are: each message is read as what it fits
 * exactly. Pure; all that is returned is borrowed from the payload.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_message_kind {
        STACK_MESSAGE_VERSION, /* of the protocol: sent whenever a reader connects (0.5) */
        STACK_MESSAGE_PART,    /* of a stack; further parts of the same thread follow */
        STACK_MESSAGE_LAST,    /* the last part, mostly the only one: a sample is complete */
        STACK_MESSAGE_STRING,
        STACK_MESSAGE_PLACE
};

struct stack_message {
        enum stack_message_kind kind;
        uint32_t capability;  /* of a part; of the sampled thread */
        uint64_t thread;      /* of a part */
        uint64_t id;          /* of a string or place, which are two spaces */
        const uint8_t *bytes; /* text of a string, UTF-8; frames of a part */
        size_t size;          /* of them; of a valid part all frames are whole */
        uint32_t line, column;
        uint64_t file; /* id of a string */
};

/* False: the payload is no such message. */
bool stack_message_read(const void *payload, size_t size, struct stack_message *ret);

/* Whether it names what later messages refer to. */
bool stack_message_defines(const void *payload, size_t size);

enum stack_frame_kind {
        STACK_FRAME_CODE = 1,   /* id of an info table, as in the event IPE */
        STACK_FRAME_TEXT = 2,   /* id of a string: an annotation of the program's */
        STACK_FRAME_PLACED = 3, /* the same, with the id of a place */
};

struct stack_message_frame {
        enum stack_frame_kind kind;
        uint64_t id, place;
};

/* The frame at *at of a part that was read, the outermost first; moves *at past it. False: there are no more. */
bool stack_message_next(const struct stack_message *m, size_t *at, struct stack_message_frame *ret);
