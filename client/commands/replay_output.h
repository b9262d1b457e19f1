/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_output.h - where a replay goes: `fifo:PATH`, `file:PATH` or `unix-listen:PATH`.
 *
 * Behaves as a program does: a FIFO waits for its reader, a file is truncated
 * when a run begins, a socket serves one reader at a time. SIGINT or SIGTERM ends
 * all waiting.
 */
#ifndef HW_CLIENT_COMMANDS_REPLAY_OUTPUT_H
#define HW_CLIENT_COMMANDS_REPLAY_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum output_kind { OUTPUT_FIFO, OUTPUT_FILE, OUTPUT_LISTEN };

struct output {
        enum output_kind kind;
        const char *path; /* borrowed from the argument */
        int fd;           /* bytes go here; -1 = closed */
        int listener;     /* LISTEN; -1 = none */
        bool made;        /* we made the FIFO or the socket file: removed at the end */
};

/* Parses the argument of --to; opens nothing. */
bool output_parse(struct output *o, const char *text);

/* Blocks SIGINT and SIGTERM except while waiting, which then returns -EINTR. Ignores SIGPIPE. */
void output_catch_signals(void);

/* Waits until `fd` is writable (-1 = none) or `seconds` have passed (< 0 = no end). 0, or -EINTR when stopped. */
int output_wait(int fd, short events, double seconds);

/*
 * Begins a run. `log` is what is played: overwriting it is refused (-EDEADLK).
 * Returns 0, -EINTR when stopped, or another -Exxx.
 */
int output_begin(struct output *o, const struct stat *log);

/* Writes everything; 0, -EPIPE when the reader has disconnected, -EINTR, or another -Exxx. */
int output_write(struct output *o, const void *data, size_t size);

/* Ends a run: a FIFO stays open for the next one. 0 or -Exxx. */
int output_end(struct output *o);

/* Closes and removes what was made. */
void output_close(struct output *o);

#endif
