/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbols.h - where the runtime system's functions and variables are.
 *
 * Found once, before anything is done to the program. A symbol that is not
 * there, or whose name means two things, has the address NULL: whoever
 * needs it does less and says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names as in the runtime's sources. */
#define RTS_SYMBOLS(X)                                                                                                 \
        X(defaultRtsConfig)                                                                                            \
        X(rtsConfig)                                                                                                   \
        X(RtsFlags)                                                                                                    \
        X(setupRtsFlags)                                                                                               \
        X(FileEventLogWriter)                                                                                          \
        X(FlagDefaultsHook)                                                                                            \
        X(OnExitHook)                                                                                                  \
        X(MallocFailHook)                                                                                              \
        X(rts_shutdown)                                                                                                \
        X(end_init_elapsed)                                                                                            \
        X(start_init_elapsed)                                                                                          \
        X(rtsSupportsBoundThreads)                                                                                     \
        X(pending_sync)                                                                                                \
        X(rts_isProfiled)                                                                                              \
        X(rts_isThreaded)                                                                                              \
        X(prog_name)                                                                                                   \
        X(all_tasks_mutex)                                                                                             \
        X(n_capabilities)                                                                                              \
        X(enabled_capabilities)                                                                                        \
        /* the eventlog */                                                                                             \
        X(startEventLogging)                                                                                           \
        X(eventlog_enabled)                                                                                            \
        X(event_log_writer)                                                                                            \
        X(flushEventLog)                                                                                               \
        X(capEventBuf)                                                                                                 \
        X(eventBuf)                                                                                                    \
        X(eventBufMutex)                                                                                               \
        X(moreCapEventBufs)                                                                                            \
        X(stat_getElapsedTime)                                                                                         \
        X(TRACE_sched)                                                                                                 \
        X(TRACE_gc)                                                                                                    \
        X(TRACE_nonmoving_gc)                                                                                          \
        X(TRACE_spark_sampled)                                                                                         \
        X(TRACE_spark_full)                                                                                            \
        X(TRACE_user)                                                                                                  \
        X(TRACE_cap)                                                                                                   \
        /* the heap profile */                                                                                         \
        X(performHeapProfile)                                                                                          \
        X(initHeapProfiling)                                                                                           \
        X(stopHeapProfTimer)                                                                                           \
        X(hp_file)                                                                                                     \
        /* all capabilities stopped */                                                                                 \
        X(rts_lock)                                                                                                    \
        X(rts_unlock)                                                                                                  \
        X(rts_pause)                                                                                                   \
        X(rts_resume)                                                                                                  \
        X(newBoundTask)                                                                                                \
        X(boundTaskExiting)                                                                                            \
        X(waitForCapability)                                                                                           \
        X(releaseCapability)                                                                                           \
        X(stopAllCapabilitiesWith)                                                                                     \
        X(releaseAllCapabilities)

#define SYMBOLS_OWN_FILE "/proc/self/exe"

struct rts_symbol {
        void *address; /* NULL: not found */
        size_t size;   /* 0: not known */
};

struct rts_symbols {
#define X(name) struct rts_symbol name;
        RTS_SYMBOLS(X)
#undef X
};

extern struct rts_symbols rts;

/* The names as an array, in the order of the struct. */
extern const char *const rts_symbol_names[];
extern const unsigned rts_symbol_count;
struct rts_symbol *rts_symbol_at(unsigned i);
struct rts_symbol *rts_symbol_named(const char *name); /* NULL: it is none of them */

/*
 * Scans an ELF image of `size` bytes: .symtab, and .dynsym for what is not
 * there. Addresses are those of the file plus `bias`. Checks every offset.
 * Symbols already found stay. Returns how many were found.
 */
unsigned symbols_scan(const uint8_t *image, size_t size, uintptr_t bias);

/* "9.0.2" from the comment section of an ELF image; false when it has none or several. */
bool symbols_ghc_version(const uint8_t *image, size_t size, char *ret, size_t ret_size);

/* Whether an executable's bytes have GHC's runtime, by a text that it has also when stripped. */
bool symbols_have_runtime(const uint8_t *image, size_t size);

/*
 * Scans this process: the executable, and a shared runtime when there is one.
 * False when there is no GHC runtime in it, or a stripped one.
 */
bool symbols_find(char *ret_version, size_t version_size);

/*
 * Where whoever starts or attaches the agent has found them, of a stripped program: "GHC'S-VERSION,DEVICE,INODE" of its
 * file, then for each ",NAME,ADDRESS,BYTES" as in struct rts_symbol, the address in the file; numbers in hexadecimal.
 * After symbols_find(). False: nothing, not that, or of another file than this program's.
 */
bool symbols_find_given(const char *text, char *ret_version, size_t version_size);

/* From an address of SYMBOLS_OWN_FILE to that in this process; symbols_find has found it. */
uintptr_t symbols_bias(void);

/* Whether the runtime of this process is a shared library. */
bool symbols_runtime_is_shared(void);

/*
 * Whether this process has a GHC runtime although symbols_find() has found none: a stripped program or, where
 * SYMBOLS_OWN_FILE is not there, one in a chroot without /proc. Reads its file.
 */
bool symbols_hidden(void);

/* Variables of the runtime, read with their own type; `otherwise` when they were not found. */
bool rts_flag(const struct rts_symbol *s, bool otherwise);
void rts_set_flag(const struct rts_symbol *s, bool value);
int64_t rts_int64(const struct rts_symbol *s, int64_t otherwise);
