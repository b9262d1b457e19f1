/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - one sample of a process: read by the source stage, kept by the model. UNKNOWN_U64 = not known. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UNKNOWN_U64 UINT64_MAX /* a number that is not known: never 0 */

#define EXIT_HEAP_EXHAUSTED 251u /* EXIT_HEAPOVERFLOW of GHC's Rts.h: more than -M or its address space allows */

#define MAPPED_FILES     3u   /* named of a process */
#define MAPPED_FILE_PATH 120u /* bytes of a path; of a longer one the end */

/*
 * Pages of one file that the process maps: the kernel can take them back, dirty ones once they are written. Those of
 * shared memory (memfd, tmpfs, System V, anonymous), and locked ones, it cannot: they are held.
 */
struct mapped_file {
        uint64_t resident_bytes, dirty_bytes, held_bytes;
        char path[MAPPED_FILE_PATH]; /* "": none */
};

/*
 * Resident memory as the kernel counts it, read in one pass over the mappings, so that the numbers belong together.
 * Pages that are neither of files, nor freed lazily, nor of the runtime's heap are the rest of rss_bytes.
 */
struct resident_pages {
        uint64_t rss_bytes;
        uint64_t files_bytes;     /* pages of files (binary, libraries, mapped stores); without locked or copied ones */
        uint64_t dirty_bytes;     /* those of files_bytes that are still to be written to their file */
        uint64_t shared_bytes;    /* of the rest: shared memory, and locked pages of files */
        uint64_t lazy_free_bytes; /* freed with MADV_FREE: resident until the kernel needs them */
        uint64_t heap_bytes;      /* in the address space that GHC's runtime reserves, without lazy_free_bytes */
        uint64_t reserved_bytes;  /* that address space, where it is less than the usual 1 TiB: its heap gets no more */
        uint64_t wall_ns;         /* when it was read, Unix time */
        struct mapped_file files[MAPPED_FILES]; /* largest first */
};

/* Why a process makes no progress, though it could. */
enum process_stop {
        PROCESS_NOT_STOPPED,
        PROCESS_STOPPED, /* by SIGSTOP or from a terminal: state T */
        PROCESS_TRACED,  /* by a debugger: state t */
        PROCESS_FROZEN,  /* with its control group */
};

struct process_sample {
        uint64_t rss_bytes;
        uint64_t files_bytes; /* of it, pages of files that the kernel can take back */
        uint64_t pss_bytes;
        uint64_t swap_bytes;
        uint64_t cpu_ns;  /* user + system */
        uint64_t threads; /* of the operating system */
        uint64_t minor_faults,
                major_faults;               /* pages of its memory that were mapped on first use; that had to be read */
        uint64_t address_space_bytes;       /* virtual memory */
        uint64_t address_space_limit_bytes; /* RLIMIT_AS; UNKNOWN when unlimited */
        uint64_t data_bytes;                /* of it, private memory that may be written to, used or not */
        uint64_t data_limit_bytes;          /* RLIMIT_DATA; UNKNOWN when unlimited */
        uint64_t cgroup_current_bytes;
        uint64_t cgroup_held_bytes; /* what of it cannot be taken back: without the cache of files */
        uint64_t cgroup_max_bytes;  /* smallest limit on the way to the root; UNKNOWN when unlimited */
        uint64_t wall_ns;           /* when it was read, Unix time */
        uint64_t cgroup_shared;     /* 1: other processes are in this cgroup, too; 0: this one alone */
        char cgroup[120];           /* its path; of a longer one the end; "" when not known */
        enum process_stop stop;
        struct resident_pages pages; /* the newest; older than the sample when a reading takes the kernel long */
};

/* Who a process is: its number is used again, its number and start are not. */
struct process_identity {
        uint32_t pid, parent_pid;
        uint64_t start_ticks;   /* clock ticks from boot to its start */
        uint64_t start_wall_ns; /* Unix time of it; UNKNOWN_U64 */
        char program[16];       /* the kernel's name of it, which ends where there is no room */
        char arguments[4096];   /* each with a NUL after it; of more the beginning */
        size_t arguments_size;  /* 0: not known */
};
