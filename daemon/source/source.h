/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source.h - where the bytes of one target come from.
 *
 * A source reads as long as there are bytes, whatever happens downstream, and
 * hands them to its sink; it knows bytes, not events. It waits for what is not
 * there yet, re-attaches, and reconnects with backoff, all by itself.
 *
 * All callbacks run on the event loop's thread, never inside source_open and
 * never after source_close. A sink must not close the source from inside a
 * callback.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/buffer/read_buffer.h"
#include "daemon/source/uri.h"
#include "proto/base/error.h"

struct event_base;
struct process_identity;

enum source_state {
        SOURCE_WAITING, /* not there yet, or lost; will be tried again */
        SOURCE_OPEN,    /* bytes can come */
        SOURCE_ENDED,   /* end of stdin or of the process: nothing will ever come again */
        SOURCE_FAILED   /* cannot be used as it is (a directory, no permission); tried again slowly */
};

struct source_sink {
        void *ctx;
        /*
         * Bytes as they came; borrowed for the call. False: not all of them are taken; they stay where they are while
         * `more` is called once per iteration of the loop, until it returns true; meanwhile nothing is read or
         * reported.
         */
        bool (*bytes)(void *ctx, const struct read_piece *piece);
        bool (*more)(void *ctx);
        /* The stream is over: the next bytes begin a new one (reconnected, file replaced or truncated). */
        void (*cut)(void *ctx, const char *why);
        /* The state changed, or `why` (one plain sentence, borrowed) did. */
        void (*state)(void *ctx, enum source_state state, const char *why);
        /*
         * SOURCE_PROCESS, which has no bytes: the process is there, and known by this (borrowed for the call). What is
         * to be known of it besides is in /proc (process_watch.h). It ends with the process.
         */
        void (*process)(void *ctx, const struct process_identity *process);
};

struct source_stats {
        uint64_t bytes;
        uint64_t attaches; /* how often the source was opened or connected */
        uint64_t attempts; /* failed ones since it was last open */
};

/* How far a growing file has been read; also identifies the file after a restart. */
struct source_position {
        bool known;
        uint64_t device, inode, offset;
        uint8_t last[64]; /* the bytes before the offset */
        uint32_t last_size;
        bool inside; /* of a FIFO: a run was being read when the daemon stopped */
};

struct source;

/*
 * Begins to read `uri` (copied). A file with `from` (NULL: from the start) is read on from that position or, if it is
 * another file now, after a cut from its start. Returns NULL with a sentence in `error` when it can never work: then
 * nothing was started.
 */
struct source *source_open(struct event_base *base, const struct source_uri *uri, const struct source_sink *sink,
                           const struct source_position *from, struct error *error);

/* known is false unless it is an open file. */
void source_position(const struct source *source, struct source_position *ret);

/*
 * Sends to the program that the bytes come from, without waiting: all `n` bytes, or an error with a sentence. No medium
 * but a connection that we made takes any.
 */
bool source_send(struct source *source, const void *bytes, size_t n, struct error *error);

/* Stops at once and frees; NULL allowed; clears the pointer. */
void source_close(struct source **source);

const struct source_stats *source_stats(const struct source *source);

/* The process that serves the Unix socket that it is connected to, by its number here; 0: not known. */
uint32_t source_peer(const struct source *source);

/* procfs_stack_start() of that process at the last connection: of the program that served it then. 0: not known. */
uint64_t source_peer_stack(const struct source *source);

/* Whether the writer runs on this machine (file, FIFO, Unix socket, loopback TCP). */
bool source_is_local(const struct source *source);

/*
 * Who keeps descriptors of sources open while the daemon is restarted
 * (daemon/watch/control/fd_store.c), so that a program does not notice. A
 * process has one service manager, so it is no argument of every source.
 *
 * A FIFO and what is in it last as long as anybody has it open: while no
 * daemon reads, its program finds a reader, and waits only when it is full.
 */

#define KEEPER_NAME_MAX 64 /* bytes of a name, NUL included: letters, digits, '-' */

struct keeper {
        void *ctx;
        void (*keep)(void *ctx, const char *name, int fd); /* open until keeper_forget; replaces one of that name */
        void (*forget)(void *ctx, const char *name);
};

/* For all sources, from now on; NULL: nobody keeps any, and what is kept already stays so. Must outlive its use. */
void keeper_set(const struct keeper *keeper);

void keeper_keep(const char *name, int fd);
void keeper_forget(const char *name);
