/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probes.h - user-space trace points (USDT) at the seams, for bpftrace, perf and gdb. Provider `heapwatch`.
 *
 * A probe is one `nop` and a note in the program; arguments are values that are at hand anyway. Without <sys/sdt.h>
 * (Debian: systemtap-sdt-dev) they are compiled out. docs/HACKING.md shows how to use them.
 */
#pragma once

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* of that header's macros */
#endif
#define HW_PROBE2(name, a, b) DTRACE_PROBE2(heapwatch, name, a, b)
#else
#define HW_PROBE2(name, a, b) ((void)(a), (void)(b))
#endif

/* A target's source has delivered `size` bytes. */
#define PROBE_BYTES_IN(target, size) HW_PROBE2(bytes_in, target, size)

/* The decoder has made `n` events of a target's bytes. */
#define PROBE_EVENTS_DECODED(target, n) HW_PROBE2(events_decoded, target, n)

/* A census of a target is whole and goes out, with `n` bands. */
#define PROBE_CENSUS_DONE(target, n) HW_PROBE2(census_done, target, n)

/* A message of `size` bytes has been given to ZeroMQ. */
#define PROBE_UPDATE_PUBLISHED(topic, size) HW_PROBE2(update_published, topic, size)

/* A request (its number in heapwatch.proto) has been answered, after `ns`. */
#define PROBE_REQUEST_ANSWERED(request, ns) HW_PROBE2(request_answered, request, ns)
