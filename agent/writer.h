/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h - the runtime's EventLogWriter that is ours: what it writes goes to
 * the queue and, when the program asked for an eventlog itself, to the
 * runtime's own file writer too.
 */
#ifndef HW_AGENT_WRITER_H
#define HW_AGENT_WRITER_H

#include <stdbool.h>
#include <stddef.h>

/* rts/EventLogWriter.h of the runtime. */
struct event_log_writer {
        void (*init)(void);
        bool (*write)(void *bytes, size_t size);
        void (*flush)(void);
        void (*stop)(void);
};

extern const struct event_log_writer writer;

/* Called when the runtime ends its log, after the last piece. */
void writer_on_stop(void (*stopped)(void));

/* Both get it: the program's own log goes on as it was asked for. Before the log begins. */
void writer_tee(const struct event_log_writer *program);

/* One piece of the log, whole blocks. For those who write a log in the runtime's place. */
bool writer_write(void *bytes, size_t size);

/* In the child of a fork: nothing is written any more. */
void writer_fork_child(void);

#endif
