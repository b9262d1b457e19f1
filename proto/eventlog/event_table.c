/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. One table, by id: name, the payload bytes that every use relies on
 * (the smallest payload of any release; of variable events, the fixed fields
 * in front), and the fields. Layouts: rts/gen_event_types.py of GHC 9.4 - 9.14
 * (rts/eventlog/EventLog.c before), for Eden, Mercury and perf the ghc-events
 * package. The table is for checking and printing; sizes in a stream come from
 * its own header.
 */
#include <stddef.h>

#include "heapwatch/eventlog.h"

#define U8(name)                                                                                                       \
        {                                                                                                              \
                name, HW_FIELD_U8                                                                                      \
        }
#define U16(name)                                                                                                      \
        {                                                                                                              \
                name, HW_FIELD_U16                                                                                     \
        }
#define U32(name)                                                                                                      \
        {                                                                                                              \
                name, HW_FIELD_U32                                                                                     \
        }
#define U64(name)                                                                                                      \
        {                                                                                                              \
                name, HW_FIELD_U64                                                                                     \
        }
#define TEXT(name)                                                                                                     \
        {                                                                                                              \
                name, HW_FIELD_TEXT                                                                                    \
        }
#define STRING(name)                                                                                                   \
        {                                                                                                              \
                name, HW_FIELD_STRING                                                                                  \
        }
#define STRINGS(name)                                                                                                  \
        {                                                                                                              \
                name, HW_FIELD_STRINGS                                                                                 \
        }
#define BYTES(name)                                                                                                    \
        {                                                                                                              \
                name, HW_FIELD_BYTES                                                                                   \
        }
#define IDS(name)                                                                                                      \
        {                                                                                                              \
                name, HW_FIELD_IDS                                                                                     \
        }
#define EMPTY(name)                                                                                                    \
        {                                                                                                              \
                name, 0, 0,                                                                                            \
                {                                                                                                      \
                        {                                                                                              \
                                NULL, HW_FIELD_U8                                                                      \
                        }                                                                                              \
                }                                                                                                      \
        }

/* clang-format off */
static const struct hw_event_info table[HW_KNOWN_IDS] = {
        [HW_CREATE_THREAD] = {"CREATE_THREAD", 4, 1, {U32("thread")}},
        [HW_RUN_THREAD] = {"RUN_THREAD", 4, 1, {U32("thread")}},
        [HW_STOP_THREAD] = {"STOP_THREAD", 6, 3, {U32("thread"), U16("status"), U32("info")}},
        [HW_THREAD_RUNNABLE] = {"THREAD_RUNNABLE", 4, 1, {U32("thread")}},
        [HW_MIGRATE_THREAD] = {"MIGRATE_THREAD", 6, 2, {U32("thread"), U16("new_cap")}},
        [HW_RUN_SPARK] = {"RUN_SPARK", 4, 1, {U32("thread")}},
        [HW_STEAL_SPARK] = {"STEAL_SPARK", 6, 2, {U32("thread"), U16("victim_cap")}},
        [HW_SHUTDOWN] = EMPTY("SHUTDOWN"),
        [HW_THREAD_WAKEUP] = {"THREAD_WAKEUP", 6, 2, {U32("thread"), U16("other_cap")}},
        [HW_GC_START] = EMPTY("GC_START"),
        [HW_GC_END] = EMPTY("GC_END"),
        [HW_REQUEST_SEQ_GC] = EMPTY("REQUEST_SEQ_GC"),
        [HW_REQUEST_PAR_GC] = EMPTY("REQUEST_PAR_GC"),
        [HW_CREATE_SPARK] = EMPTY("CREATE_SPARK"),
        [HW_SPARK_TO_THREAD] = EMPTY("SPARK_TO_THREAD"),
        [HW_CREATE_SPARK_THREAD] = {"CREATE_SPARK_THREAD", 4, 1, {U32("thread")}},
        [HW_LOG_MSG] = {"LOG_MSG", 0, 1, {TEXT("text")}},
        [HW_STARTUP] = {"STARTUP", 2, 1, {U16("n_caps")}},
        [HW_BLOCK_MARKER] = {"BLOCK_MARKER", 14, 3, {U32("size_bytes"), U64("end_ns"), U16("cap")}},
        [HW_USER_MSG] = {"USER_MSG", 0, 1, {TEXT("text")}},
        [HW_GC_IDLE] = EMPTY("GC_IDLE"),
        [HW_GC_WORK] = EMPTY("GC_WORK"),
        [HW_GC_DONE] = EMPTY("GC_DONE"),
        [HW_VERSION] = {"VERSION", 0, 1, {TEXT("text")}},
        [HW_PROGRAM_INVOCATION] = {"PROGRAM_INVOCATION", 0, 1, {TEXT("text")}},
        [HW_CAPSET_CREATE] = {"CAPSET_CREATE", 6, 2, {U32("capset"), U16("type")}},
        [HW_CAPSET_DELETE] = {"CAPSET_DELETE", 4, 1, {U32("capset")}},
        [HW_CAPSET_ASSIGN_CAP] = {"CAPSET_ASSIGN_CAP", 6, 2, {U32("capset"), U16("cap")}},
        [HW_CAPSET_REMOVE_CAP] = {"CAPSET_REMOVE_CAP", 6, 2, {U32("capset"), U16("cap")}},
        [HW_RTS_IDENTIFIER] = {"RTS_IDENTIFIER", 4, 2, {U32("capset"), TEXT("text")}},
        [HW_PROGRAM_ARGS] = {"PROGRAM_ARGS", 4, 2, {U32("capset"), STRINGS("args")}},
        [HW_PROGRAM_ENV] = {"PROGRAM_ENV", 4, 2, {U32("capset"), STRINGS("environment")}},
        [HW_OSPROCESS_PID] = {"OSPROCESS_PID", 8, 2, {U32("capset"), U32("pid")}},
        [HW_OSPROCESS_PPID] = {"OSPROCESS_PPID", 8, 2, {U32("capset"), U32("ppid")}},
        [HW_SPARK_COUNTERS] = {"SPARK_COUNTERS", 56, 7, {
                U64("created"), U64("dud"), U64("overflowed"), U64("converted"), U64("gcd"), U64("fizzled"),
                U64("remaining")}},
        [HW_SPARK_CREATE] = EMPTY("SPARK_CREATE"),
        [HW_SPARK_DUD] = EMPTY("SPARK_DUD"),
        [HW_SPARK_OVERFLOW] = EMPTY("SPARK_OVERFLOW"),
        [HW_SPARK_RUN] = EMPTY("SPARK_RUN"),
        [HW_SPARK_STEAL] = {"SPARK_STEAL", 2, 1, {U16("victim_cap")}},
        [HW_SPARK_FIZZLE] = EMPTY("SPARK_FIZZLE"),
        [HW_SPARK_GC] = EMPTY("SPARK_GC"),
        [HW_INTERN_STRING] = {"INTERN_STRING", 4, 2, {TEXT("text"), U32("string")}},
        [HW_WALL_CLOCK_TIME] = {"WALL_CLOCK_TIME", 16, 3, {U32("capset"), U64("unix_s"), U32("unix_ns")}},
        [HW_THREAD_LABEL] = {"THREAD_LABEL", 4, 2, {U32("thread"), TEXT("text")}},
        [HW_CAP_CREATE] = {"CAP_CREATE", 2, 1, {U16("cap")}},
        [HW_CAP_DELETE] = {"CAP_DELETE", 2, 1, {U16("cap")}},
        [HW_CAP_DISABLE] = {"CAP_DISABLE", 2, 1, {U16("cap")}},
        [HW_CAP_ENABLE] = {"CAP_ENABLE", 2, 1, {U16("cap")}},
        [HW_HEAP_ALLOCATED] = {"HEAP_ALLOCATED", 12, 2, {U32("capset"), U64("allocated_bytes")}},
        [HW_HEAP_SIZE] = {"HEAP_SIZE", 12, 2, {U32("capset"), U64("heap_bytes")}},
        [HW_HEAP_LIVE] = {"HEAP_LIVE", 12, 2, {U32("capset"), U64("live_bytes")}},
        [HW_HEAP_INFO_GHC] = {"HEAP_INFO_GHC", 38, 6, {
                U32("capset"), U16("generations"), U64("max_heap_bytes"), U64("alloc_area_bytes"),
                U64("mblock_bytes"), U64("block_bytes")}},
        [HW_GC_STATS_GHC] = {"GC_STATS_GHC", 50, 9, {
                U32("capset"), U16("generation"), U64("copied_bytes"), U64("slop_bytes"),
                U64("fragmentation_bytes"), U32("par_n_threads"), U64("par_max_copied_bytes"),
                U64("par_tot_copied_bytes"), U64("par_balanced_copied_bytes")}},
        [HW_GC_GLOBAL_SYNC] = EMPTY("GC_GLOBAL_SYNC"),
        [HW_TASK_CREATE] = {"TASK_CREATE", 18, 3, {U64("task"), U16("cap"), U64("kernel_thread")}},
        [HW_TASK_MIGRATE] = {"TASK_MIGRATE", 12, 3, {U64("task"), U16("old_cap"), U16("new_cap")}},
        [HW_TASK_DELETE] = {"TASK_DELETE", 8, 1, {U64("task")}},
        [HW_USER_MARKER] = {"USER_MARKER", 0, 1, {TEXT("text")}},
        [HW_HACK_BUG_T9003] = EMPTY("HACK_BUG_T9003"),
        [HW_EDEN_START_RECEIVE] = EMPTY("EDEN_START_RECEIVE"),
        [HW_EDEN_END_RECEIVE] = EMPTY("EDEN_END_RECEIVE"),
        [HW_CREATE_PROCESS] = {"CREATE_PROCESS", 4, 1, {U32("process")}},
        [HW_KILL_PROCESS] = {"KILL_PROCESS", 4, 1, {U32("process")}},
        [HW_ASSIGN_THREAD_TO_PROCESS] = {"ASSIGN_THREAD_TO_PROCESS", 8, 2, {U32("thread"), U32("process")}},
        [HW_CREATE_MACHINE] = {"CREATE_MACHINE", 10, 2, {U16("machine"), U64("real_time_10ns")}},
        [HW_KILL_MACHINE] = {"KILL_MACHINE", 2, 1, {U16("machine")}},
        [HW_SEND_MESSAGE] = {"SEND_MESSAGE", 19, 6, {
                U8("tag"), U32("sender_process"), U32("sender_thread"), U16("receiver_machine"),
                U32("receiver_process"), U32("receiver_inport")}},
        [HW_RECEIVE_MESSAGE] = {"RECEIVE_MESSAGE", 23, 7, {
                U8("tag"), U32("receiver_process"), U32("receiver_inport"), U16("sender_machine"),
                U32("sender_process"), U32("sender_thread"), U32("message_size")}},
        [HW_SEND_RECEIVE_LOCAL_MESSAGE] = {"SEND_RECEIVE_LOCAL_MESSAGE", 17, 5, {
                U8("tag"), U32("sender_process"), U32("sender_thread"), U32("receiver_process"),
                U32("receiver_inport")}},
        [HW_MEM_RETURN] = {"MEM_RETURN", 16, 4, {
                U32("capset"), U32("current_mblocks"), U32("needed_mblocks"), U32("returned_mblocks")}},
        [HW_BLOCKS_SIZE] = {"BLOCKS_SIZE", 12, 2, {U32("capset"), U64("blocks_bytes")}},
        [HW_MERCURY_START_PAR_CONJUNCTION] = {"MERCURY_START_PAR_CONJUNCTION", 12, 2, {
                U64("dynamic"), U32("static")}},
        [HW_MERCURY_END_PAR_CONJUNCTION] = {"MERCURY_END_PAR_CONJUNCTION", 8, 1, {U64("dynamic")}},
        [HW_MERCURY_END_PAR_CONJUNCT] = {"MERCURY_END_PAR_CONJUNCT", 8, 1, {U64("dynamic")}},
        [HW_MERCURY_CREATE_SPARK] = {"MERCURY_CREATE_SPARK", 12, 2, {U64("dynamic"), U32("spark")}},
        [HW_MERCURY_FUT_CREATE] = {"MERCURY_FUT_CREATE", 12, 2, {U64("future"), U32("name")}},
        [HW_MERCURY_FUT_WAIT_NOSUSPEND] = {"MERCURY_FUT_WAIT_NOSUSPEND", 8, 1, {U64("future")}},
        [HW_MERCURY_FUT_WAIT_SUSPENDED] = {"MERCURY_FUT_WAIT_SUSPENDED", 8, 1, {U64("future")}},
        [HW_MERCURY_FUT_SIGNAL] = {"MERCURY_FUT_SIGNAL", 8, 1, {U64("future")}},
        [HW_MERCURY_LOOKING_FOR_GLOBAL_CONTEXT] = EMPTY("MERCURY_LOOKING_FOR_GLOBAL_CONTEXT"),
        [HW_MERCURY_WORK_STEALING] = EMPTY("MERCURY_WORK_STEALING"),
        [HW_MERCURY_RELEASE_CONTEXT] = {"MERCURY_RELEASE_CONTEXT", 4, 1, {U32("context")}},
        [HW_MERCURY_ENGINE_SLEEPING] = EMPTY("MERCURY_ENGINE_SLEEPING"),
        [HW_MERCURY_LOOKING_FOR_LOCAL_SPARK] = EMPTY("MERCURY_LOOKING_FOR_LOCAL_SPARK"),
        [HW_MERCURY_CALLING_MAIN] = EMPTY("MERCURY_CALLING_MAIN"),
        [HW_PERF_NAME] = {"PERF_NAME", 4, 2, {U32("counter"), TEXT("name")}},
        [HW_PERF_COUNTER] = {"PERF_COUNTER", 20, 3, {U32("counter"), U64("kernel_thread"), U64("period")}},
        [HW_PERF_TRACEPOINT] = {"PERF_TRACEPOINT", 12, 2, {U32("counter"), U64("kernel_thread")}},
        [HW_HEAP_PROF_BEGIN] = {"HEAP_PROF_BEGIN", 13, 10, {
                U8("profile"), U64("period_ns"), U32("breakdown"), STRING("module"), STRING("closure_descr"),
                STRING("type_descr"), STRING("cost_centre"), STRING("cost_centre_stack"), STRING("retainer"),
                STRING("biography")}},
        [HW_HEAP_PROF_COST_CENTRE] = {"HEAP_PROF_COST_CENTRE", 4, 5, {
                U32("cost_centre"), STRING("label"), STRING("module"), STRING("source"), U8("flags")}},
        [HW_HEAP_PROF_SAMPLE_BEGIN] = {"HEAP_PROF_SAMPLE_BEGIN", 8, 1, {U64("era")}},
        [HW_HEAP_PROF_SAMPLE_COST_CENTRE] = {"HEAP_PROF_SAMPLE_COST_CENTRE", 10, 3, {
                U8("profile"), U64("residency_bytes"), IDS("stack")}},
        [HW_HEAP_PROF_SAMPLE_STRING] = {"HEAP_PROF_SAMPLE_STRING", 9, 3, {
                U8("profile"), U64("residency_bytes"), STRING("label")}},
        [HW_HEAP_PROF_SAMPLE_END] = {"HEAP_PROF_SAMPLE_END", 8, 1, {U64("era")}},
        [HW_HEAP_BIO_PROF_SAMPLE_BEGIN] = {"HEAP_BIO_PROF_SAMPLE_BEGIN", 16, 2, {U64("era"), U64("sample_ns")}},
        [HW_PROF_SAMPLE_COST_CENTRE] = {"PROF_SAMPLE_COST_CENTRE", 13, 3, {U32("cap"), U64("tick"), IDS("stack")}},
        [HW_PROF_BEGIN] = {"PROF_BEGIN", 8, 1, {U64("tick_interval_ns")}},
        [HW_IPE] = {"IPE", 8, 7, {
                U64("info_table"), STRING("table_name"), STRING("closure_type"), STRING("type"),
                STRING("label"), STRING("module"), STRING("source")}},
        [HW_USER_BINARY_MSG] = {"USER_BINARY_MSG", 0, 1, {BYTES("bytes")}},
        [HW_CONC_MARK_BEGIN] = EMPTY("CONC_MARK_BEGIN"),
        [HW_CONC_MARK_END] = {"CONC_MARK_END", 4, 1, {U32("marked_objects")}},
        [HW_CONC_SYNC_BEGIN] = EMPTY("CONC_SYNC_BEGIN"),
        [HW_CONC_SYNC_END] = EMPTY("CONC_SYNC_END"),
        [HW_CONC_SWEEP_BEGIN] = EMPTY("CONC_SWEEP_BEGIN"),
        [HW_CONC_SWEEP_END] = EMPTY("CONC_SWEEP_END"),
        [HW_CONC_UPD_REM_SET_FLUSH] = {"CONC_UPD_REM_SET_FLUSH", 2, 1, {U16("cap")}},
        [HW_NONMOVING_HEAP_CENSUS] = {"NONMOVING_HEAP_CENSUS", 13, 4, {
                U16("block_bytes"), U32("active_segments"), U32("filled_segments"), U32("live_blocks")}},
        [HW_NONMOVING_PRUNED_SEGMENTS] = {"NONMOVING_PRUNED_SEGMENTS", 8, 2, {
                U32("pruned_segments"), U32("free_segments")}},
        [HW_TICKY_COUNTER_DEF] = {"TICKY_COUNTER_DEF", 10, 6, {
                U64("counter"), U16("arity"), STRING("arg_kinds"), STRING("name"), U64("info_table"),
                STRING("json")}},
        [HW_TICKY_COUNTER_SAMPLE] = {"TICKY_COUNTER_SAMPLE", 32, 4, {
                U64("counter"), U64("entries"), U64("allocs"), U64("allocated")}},
        [HW_TICKY_COUNTER_BEGIN_SAMPLE] = EMPTY("TICKY_COUNTER_BEGIN_SAMPLE"),
        [HW_OUTSIDE_GENERATION] = {"OUTSIDE_GENERATION", 24, 5, {
                U32("capset"), U16("generation"), U16("generations"), U64("collections"),
                U64("parallel_collections")}},
        [HW_OUTSIDE_COLLECTIONS] = {"OUTSIDE_COLLECTIONS", 20, 3, {
                U32("capset"), U64("copied_bytes"), U64("collecting_ns")}},
        [HW_OUTSIDE_THREADS] = {"OUTSIDE_THREADS", 12, 2, {U32("capset"), U64("threads")}},
        [HW_OUTSIDE_BAND_THREADS] = {"OUTSIDE_BAND_THREADS", 12, 2, {U32("capset"), U64("threads")}},
};
/* clang-format on */

const struct hw_event_info *hw_event_info(uint16_t id)
{
        return id < HW_KNOWN_IDS && table[id].name ? &table[id] : NULL;
}
