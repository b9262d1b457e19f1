/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_origin.c - DESIGN: a log that is started late in its process begins with the same events at the same kind of
 * times. But there the runtime has known its OS threads for long, while in the child it meets the main thread, whose
 * number is the process's own, as its log begins. Before GHC 9.2 the child's log has no process number: then a first OS
 * thread in the log's first moment tells. Events of no capability may come last in the file, so all of it is read.
 */
#include "daemon/watch/targets/log_reader.h"

#include "proto/base/ckd.h"
#include "proto/base/time.h"

#define MAIN_THREAD_NS NS_PER_S
#define ANY_THREAD_NS  (NS_PER_S / 100)
#define EVENTS         256u

void log_origin_begin(struct log_origin *o, uint64_t first_ns)
{
        *o = (struct log_origin){ .first_ns = first_ns, .task_ns = UINT64_MAX };
        if (first_ns >= LOG_ORIGIN_LEAST_NS)
                o->decoder = hw_eventlog_new();
}

bool log_origin_bytes(struct log_origin *o, const uint8_t *bytes, size_t n)
{
        struct hw_event events[EVENTS];
        enum hw_eventlog_status status;
        size_t got;

        if (!o->decoder)
                return false;
        hw_eventlog_input(o->decoder, bytes, n);
        do {
                status = hw_eventlog_read(o->decoder, events, EVENTS, &got);
                for (size_t i = 0; i < got; i++) {
                        const struct hw_event *e = &events[i];
                        if (e->id == HW_OSPROCESS_PID)
                                o->pid = hw_event_u32(e, 4);
                        if (e->id != HW_TASK_CREATE || e->time_ns >= o->task_ns)
                                continue;
                        o->task_ns = e->time_ns;
                        o->task = hw_event_u64(e, 10);
                }
                if (status == HW_EVENTLOG_END || (o->pid && o->task_ns != UINT64_MAX))
                        return false;
        } while (status != HW_EVENTLOG_NEED_MORE);
        return true;
}

uint64_t log_origin_end(struct log_origin *o)
{
        const uint64_t after_ns = sub_sat(o->task_ns, o->first_ns);
        const bool forked = o->task_ns != UINT64_MAX &&
                            (o->pid ? o->task == o->pid && after_ns < MAIN_THREAD_NS : after_ns < ANY_THREAD_NS);

        hw_eventlog_destroy(&o->decoder);
        return forked ? o->first_ns : 0;
}
