/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h - our EventLogWriter for the runtime: what it writes goes to the
 * queue and, when the program itself asked for an eventlog, to the runtime's own
 * file writer too.
 *
 * A program may call that file writer itself: under GHC 9.0, which has no flush,
 * to have its buffers written (tests/programs/flush.c). It would crash when no
 * file is open, and take the bytes away from us. So, while the log is ours, the
 * file writer's functions are ours too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/symbols.h"

/* rts/EventLogWriter.h of the runtime. */
struct event_log_writer {
        void (*init)(void);
        bool (*write)(void *bytes, size_t size);
        void (*flush)(void);
        void (*stop)(void);
};

extern const struct event_log_writer writer;

/* Called when the runtime begins its log, with each piece, and when it has ended it. */
void writer_on(void (*begun)(void), void (*piece)(void), void (*stopped)(void));

/* The functions of the runtime's file writer become ours, and its own again. While no log runs. */
void writer_replace_file(const struct rts_symbol *file);
void writer_give_back_file(void);

/* The program asked for a log: the file gets it, too. After writer_replace_file; at the latest when the log begins. */
void writer_tee(void);
bool writer_tees(void);

/*
 * Joins the log that the program already writes to that file, and leaves it, which is the end of ours alone. With
 * everything stopped. False: it cannot be joined.
 */
bool writer_join(const struct rts_symbol *file);
void writer_leave(void);
bool writer_joined(void);

/* The log that runs comes here. */
bool writer_serves(void);

/* One piece of the log, whole blocks. For synthetic.c, which writes a log in the runtime's place. */
bool writer_write(void *bytes, size_t size);

/* As in the child of a fork: nothing goes to the queue; the program's own log goes on. */
void writer_mute(bool mute);

/* Called before anything else when the runtime begins a log while muted, as in the child of forkProcess. */
void writer_on_muted(void (*begun)(void));

/* Whether the runtime writes its log with our writer. */
bool writer_is_in_use(const struct rts_symbol *event_log_writer);
