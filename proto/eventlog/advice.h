/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.h - what a program's flags hide, and which flag would show it.
 *
 * One list for the daemon's health messages and for `heapwatch doctor`, so
 * both say the same sentences. Numbers are part of the wire: never reused.
 */
#pragma once

enum hw_advice {
        HW_ADVICE_NO_GC_EVENTS = 1,            /* class g is off */
        HW_ADVICE_NO_HEAP_PROFILE = 2,         /* no -h: no bands */
        HW_ADVICE_NOT_FLUSHED = 3,             /* blocks arrive rarely: no flush interval */
        HW_ADVICE_FLUSH_NOT_THREADED = 4,      /* flush interval on the non-threaded RTS damages the log */
        HW_ADVICE_FLUSH_EXIT_DEADLOCK = 5,     /* flush interval may hang the program at exit */
        HW_ADVICE_PROFILE_NOT_THREADED = 6,    /* -p with other events on the non-threaded RTS damages the log */
        HW_ADVICE_OLD_GHC = 7,                 /* before 9.2: cannot flush by itself */
        HW_ADVICE_NO_IPE = 8,                  /* -hi without info table definitions */
        HW_ADVICE_BIOGRAPHY_AT_EXIT = 9,       /* -hb writes its censuses at exit only */
        HW_ADVICE_RETAINER_MANY = 10,          /* -hr: MANY is not in the log */
        HW_ADVICE_TICKY_AT_EXIT = 11,          /* names of ticky counters come at exit */
        HW_ADVICE_UNDEFINED_COST_CENTRES = 12, /* log joined late: cc#N */
        HW_ADVICE_NO_USER_EVENTS = 13,         /* class u is off */
        HW_ADVICE_NO_RTSOPTS = 14,             /* linked without -rtsopts */
        HW_ADVICE_NO_EVENTLOG = 15,            /* before 9.4, linked without -eventlog */
        HW_ADVICE_FEW_MAJOR = 16,              /* major collections are rare: live is old */
        HW_ADVICE_PROCESS_ONLY = 17,           /* no log: the process alone */
        HW_ADVICE_SEVERAL_PROCESSES = 18,      /* merged logs, or two programs in one file */
        HW_ADVICE_PROFILE_REFUSED = 19,        /* no -h, which its collector refuses */
        HW_ADVICE_COUNT
};

/* The plain sentence with the flag to add; static; NULL for unknown codes. */
const char *hw_advice_text(enum hw_advice code);
