/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * writer.h - our EventLogWriter for the runtime: what it writes goes to the
 * queue and, when the program itself asked for an eventlog, to the runtime's own
 * file writer too.
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

/* Called with each piece, and when the runtime ends its log, after the last one. */
void writer_on(void (*piece)(void), void (*stopped)(void));

/* The program's own writer gets the log, too. To be called before the log begins. */
void writer_tee(const struct event_log_writer *program);

/* One piece of the log, whole blocks. For synthetic.c, which writes a log in the runtime's place. */
bool writer_write(void *bytes, size_t size);

/* In the child of a fork: nothing is written any more. */
void writer_fork_child(void);

#endif
