/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: text, read by the parser that reads files, so a user's rule can do everything that these do. docs/RULES.md
 * gives the reason for each number.
 */
#include "daemon/judge/rules/rule.h"

#include <stddef.h>

/* clang-format off */
#define RULE "  - alert: "
#define LINE "    "
#define NOTES LINE "annotations:\n" LINE "  summary: "

#define GROUP(name) "groups:\n- name: " name "\n  rules:\n"

const char *const builtin_rules[] = {
        GROUP("memory")
        RULE "leak\n"
        LINE "expr: leak(live)\n"
        LINE "for: 1m\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} [[leaks {{slope}} and does not slow down|has leaked, flat now]]; "
        "live data is {{value}} now'\n"
        LINE "  onset: '[[growth began {{onset}}; ]]nearest note: {{note}}'\n"
        LINE "  where: '{{where}}'\n"
        LINE "  verdict: '{{verdict}}'\n"
        LINE "  time_to_limit: '{{time_to_limit}}'\n"

        RULE "leaking-band\n"
        LINE "expr: leak(band)\n"
        LINE "for: 1m\n"
        LINE "labels: {severity: info, part_of: leak}\n"
        NOTES "'{{band}} in {{target}} [[leaks {{slope}}|has leaked]] and holds {{value}}'\n"
        LINE "  onset: '[[growth began {{onset}}; ]]nearest note: {{note}}'\n"
        LINE "  verdict: '{{verdict}}'\n"

        RULE "memory-runs-out\n"
        LINE "expr: runs_out\n"
        LINE "labels: {severity: critical}\n"
        NOTES "'{{target}} is running out of memory: {{runs_out}}'\n"
        LINE "  where: '{{where}}'\n"

        RULE "memory-runs-out-soon\n"
        LINE "expr: time_to_limit < 2h\n"
        LINE "for: 2m\n"
        LINE "until: time_to_limit > 3h\n"
        LINE "labels: {severity: warning, part_of: leak off-heap-growth resident-growth "
             "memory-runs-out-now memory-runs-out}\n"
        NOTES "'{{target}} may reach its memory limit[[ within {{value}}]]'\n"
        LINE "  time_to_limit: '{{time_to_limit}}'\n"
        LINE "  where: '{{where}}'\n"

        RULE "memory-runs-out-now\n"
        LINE "expr: time_to_limit < 20m\n"
        LINE "for: 1m\n"
        LINE "until: time_to_limit > 30m\n"
        LINE "labels: {severity: critical, part_of: leak off-heap-growth resident-growth memory-runs-out}\n"
        NOTES "'{{target}} may reach its memory limit[[ within {{value}}]]'\n"
        LINE "  time_to_limit: '{{time_to_limit}}'\n"
        LINE "  where: '{{where}}'\n"

        RULE "heap-limit-met\n"
        LINE "expr: heap_limit_used >= 100%\n"
        LINE "labels: {severity: critical, part_of: crashed memory-runs-out}\n"
        NOTES "'the heap of {{target}} has reached its limit: it had {{value}} of -M'\n"
        LINE "  where: '{{where}}'\n"

        RULE "off-heap-growth\n"
        LINE "expr: growing(foreign) and not growing(heap)\n"
        LINE "for: 1m\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'foreign memory (C code, malloc, shared memory) of {{target}} grows[[ by {{slope}}]]'\n"
        LINE "  onset: '[[growth began {{onset}}; ]]nearest note: {{note}}'\n"
        LINE "  verdict: '{{verdict}}'\n"
        LINE "  where: '{{where}}'\n"

        RULE "resident-growth\n"
        LINE "expr: growing(rss) and process_only\n"
        LINE "for: 1m\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} grows[[ by {{slope}}]]; what grows in it is not known: only its process is watched'\n"
        LINE "  onset: '[[growth began {{onset}}]]'\n"
        LINE "  verdict: '{{verdict}}'\n"
        LINE "  where: '{{where}}'\n"
        LINE "  time_to_limit: '{{time_to_limit}}'\n"

        RULE "fragmentation\n"
        LINE "expr: min(unneeded, 10m) > 25% * heap and min(unneeded, 10m) > 128MiB\n"
        LINE "for: 10m\n"
        LINE "until: min(unneeded, 10m) < 20% * heap\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'the heap of {{target}} is {{value}} larger than its live data needs, for at least ten minutes'\n"
        LINE "  sizing: '{{sizing}}'\n"
        LINE "  where: '{{where}}'\n",

        GROUP("collections")
        RULE "gc-pauses\n"
        LINE "expr: p99(gc_pause, 5m) > 200ms and count(gc_pause, 5m) >= 20 and census_share < 50%\n"
        LINE "for: 5m\n"
        LINE "until: p99(gc_pause, 5m) < 150ms\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} is stopped by collections: one in a hundred takes {{value}} or more'\n"

        RULE "gc-share\n"
        LINE "expr: mean(gc_share, 5m) > 30%\n"
        LINE "for: 5m\n"
        LINE "until: mean(gc_share, 5m) < 20%\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} spends {{value}} of its time collecting garbage, heap censuses not counted'\n"

        RULE "gc-sync\n"
        LINE "expr: gc_sync_share > 10%\n"
        LINE "for: 1m\n"
        LINE "until: gc_sync_share < 5%\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} spends {{value}} of its time waiting for capabilities to stop before collections: an unsafe "
              "foreign call, or a loop that allocates nothing, holds one'\n"

        RULE "gc-events-missing\n"
        LINE "expr: gc_events_missing\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} does not log its collections: nothing is known about its heap. Run it with +RTS -l'\n",

        GROUP("program")
        RULE "threads-pile-up\n"
        LINE "expr: threads_pile_up and threads > 1000\n"
        LINE "for: 10s\n"
        LINE "keep_firing_for: 5m\n"
        LINE "labels: {severity: warning, part_of: leak}\n"
        NOTES "'{{target}} [[makes threads that do not end: {{threads}}|made threads that did not end]]'\n"

        RULE "crashed\n"
        LINE "expr: crashed\n"
        LINE "until: failed or not crashed and increase(crashes, 15m) < 1\n"
        LINE "labels: {severity: critical}\n"
        NOTES "'{{target}} crashed: {{reason}}'\n"

        RULE "failed\n"
        LINE "expr: failed\n"
        LINE "until: crashed or not failed and increase(failures, 15m) < 1\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} failed: {{reason}}'\n"

        RULE "restart-loop\n"
        LINE "expr: increase(restarts, 15m) >= 3\n"
        LINE "labels: {severity: critical}\n"
        NOTES "'{{target}} has restarted {{value}} times in 15 minutes'\n",

        GROUP("stream")
        RULE "stream-stalled\n"
        LINE "expr: stream_idle > 2m and stream_idle > 5 * stream_gap\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'nothing has come from {{target}} for {{value}}: {{reason}}'\n"

        RULE "stream-damaged\n"
        LINE "expr: increase(lost_bytes, 10m) > 0\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{value}} of the log of {{target}} was damaged and skipped'\n"

        RULE "recording-paused\n"
        LINE "expr: recording_paused_first\n"
        LINE "for: 15s\n"
        LINE "labels: {severity: warning}\n"
        NOTES "'{{target}} is watched but not recorded, or not all of it: {{reason}}'\n",
        NULL
};
/* clang-format on */
