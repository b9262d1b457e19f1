/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medium.h - what the kinds of source share, inside this folder only.
 *
 * A medium is one kind of source as a table of functions. Its own struct has
 * `struct source` as its first member. It finds bytes with its own events and
 * reports through the functions here; source.c talks to the sink.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "daemon/source/source.h"
#include "daemon/source/uri.h"
#include "proto/base/error.h"

#define WHY_BYTES (SOURCE_PATH_MAX + 256)

struct medium {
        size_t size; /* of the kind's own struct */
        /* Must not call the sink. 0, or -Exxx with a sentence in `error`; `stop` is called either way. */
        int (*start)(struct source *s, struct error *error);
        /* In the first turn, and when source_wake() or source_wake_after() says so. */
        void (*wake)(struct source *s);
        /* Closes and frees what start and later turns made; also after a start that failed halfway. */
        void (*stop)(struct source *s);
        /* NULL: such a source has no position. */
        void (*position)(const struct source *s, struct source_position *ret);
        /* NULL: nothing can be sent to such a source. Sends all of it at once, or nothing. False with an error. */
        bool (*send)(struct source *s, const void *bytes, size_t n, struct error *error);
};

struct source {
        const struct medium *medium;
        struct event_base *base;
        struct source_uri uri;
        struct source_sink sink;
        struct source_stats stats;
        enum source_state state;
        bool flowing;                /* bytes came since the last cut */
        struct source_position from; /* if known: where to go on */
        struct event *timer;         /* for source_wake() */
        struct read_buffer *held;    /* of a piece not fully taken by the sink: nothing is read meanwhile; or NULL */
        struct event *again;         /* goes on with it in the next round; NULL until needed */
        uint32_t peer;               /* the process that serves its socket; 0: not known */
        uint64_t peer_stack;         /* procfs_stack_start() of it when it was connected */
        uint64_t said;               /* a hash of the last sentence reported; 0: none yet */
};

extern const struct medium medium_file;
extern const struct medium medium_fifo;
extern const struct medium medium_stdin;
extern const struct medium medium_connect;
extern const struct medium medium_listen;
extern const struct medium medium_process;
extern const struct medium medium_outside;

/* In the next turn; `source` is a struct source, as a hint (watch.h) passes it on. */
void source_wake(void *source);

/* Later; instead of what was to come. */
void source_wake_after(struct source *s, const struct timeval *pause);

/* Reports state and reason to the sink if either is new. */
void source_set_state(struct source *s, enum source_state state, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Counts an attach and reports OPEN. */
void source_set_attached(struct source *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Counts a failed attempt and reports WAITING or FAILED. */
void source_set_retry(struct source *s, enum source_state state, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* The current stream is over. Nothing is reported if it had no bytes. */
void source_cut(struct source *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ----------------------------------------------------------------- reading */

/* Whether the sink still has to take a piece: until then nothing may be read or cut. */
static inline bool source_is_busy(const struct source *s)
{
        return s->held != NULL;
}

/*
 * One read(2) of at most `max` bytes into the daemon's buffer, handed to the
 * sink. Returns their number, 0 at the end, or -Exxx (-EAGAIN: nothing now).
 * *ret_data is valid until the next call. Not to be called while the source is
 * busy.
 */
ssize_t source_read_some(struct source *s, int fd, size_t max, const uint8_t **ret_data);

/* What a source may still read in this iteration of the loop. */
struct turn {
        size_t left;     /* bytes */
        uint64_t end_ns; /* by the monotonic clock */
};

struct turn turn_begin(void);
bool turn_has_budget(struct turn *turn, const struct source *s, size_t n); /* after n bytes more */

enum turn_end {
        TURN_DRAINED, /* nothing left now */
        TURN_BUDGET,  /* the turn is used up: go on after the others have had theirs */
        TURN_EOF,
        TURN_ERROR
};

/* Frees the piece that is held, taken or not. */
void source_drop_held(struct source *s);

/* Reads until one of these is met; *ret_error is the errno of TURN_ERROR, else untouched. */
enum turn_end source_read_turn(struct source *s, int fd, int *ret_error);

/* address.c: a socket URI as a socket address. No names are looked up. */

struct address {
        struct sockaddr_storage storage;
        socklen_t size;
};

/* `second` asks for localhost's other address: ::1 instead of 127.0.0.1. */
void address_of(const struct source_uri *uri, bool second, struct address *ret_address);

/* A nonblocking, close-on-exec stream socket for it; -1 with errno. */
int address_socket(const struct address *address);
