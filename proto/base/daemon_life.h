/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_life.h - the life of a daemon in a file that outlives it, DIRECTORY/life: when it began, and how it ended. The
 * file is the lock of the directory, too: one daemon at a time has it.
 *
 * The daemon after it reports how the one before ended, and clients start a daemon again that did not end as asked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

enum daemon_life_end {
        LIFE_NONE,    /* no daemon has had the directory */
        LIFE_RUNS,    /* it still has it */
        LIFE_STOPPED, /* as asked; or it could not begin */
        LIFE_SIGNAL,  /* a crash of its own */
        LIFE_KILLED,  /* without a word: SIGKILL, by a user or for want of memory */
        LIFE_REBOOT,  /* the machine was started since */
};

struct daemon_life {
        enum daemon_life_end end;
        int signal; /* LIFE_SIGNAL */
        pid_t pid;
        uint64_t began_ns, ended_ns; /* Unix time; ended_ns is 0 where it is not known */
        uint32_t short_lives;        /* that daemons before it had, in a row */
        bool records;                /* it keeps recordings and checkpoints */
};

/* How the newest daemon of that directory fares. LIFE_NONE also when that cannot be read. */
void daemon_life_read(const char *directory, struct daemon_life *ret);

/* Whether it ended in another way than it was asked to, while the machine ran. */
bool daemon_life_died(const struct daemon_life *life);

/*
 * Of one that died: how many daemons in a row have lived for less than a minute, with this one; and when the next
 * should begin at the earliest, Unix time: a second after this one began, then two, four ... five minutes.
 */
uint32_t daemon_life_failures(const struct daemon_life *life);
uint64_t daemon_life_next_ns(const struct daemon_life *life);

/* "ended by SIGSEGV at 2026-11-25 22:31:05", to follow "the daemon before this one". */
#define DAEMON_LIFE_TEXT_MAX 128
char *daemon_life_text(char out[DAEMON_LIFE_TEXT_MAX], const struct daemon_life *life);

/*
 * This process begins a life there: takes the lock, and learns of the life before. Returns a descriptor to be kept
 * open, or -errno with a sentence: -EBUSY, another process has the directory.
 */
int daemon_life_begin(const char *directory, bool records, struct daemon_life *ret_before, struct error *error);

/* Ends it. daemon_life_crashed() may be called in a signal handler. */
void daemon_life_stopped(int fd);
void daemon_life_crashed(int fd, int signal_number);

/*
 * The lock of a file, which a process has until it ends or closes it: 0, -EBUSY with the process that has it (0 when
 * not known), or another -errno.
 */
int daemon_life_lock(int fd, pid_t *ret_holder);
