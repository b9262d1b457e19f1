/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outside_census.h - the number of a census in a log (event 162) that was read from outside: no collection was made for
 * it. That of a whole heap has all ones. Of one that was estimated from a sample it is less by the spread of its bands,
 * in parts per million, a u32.
 *
 * The spread s bounds the errors of all bands at once: 95 % of estimates of a band of b bytes, of t in all, are within
 * s * sqrt(b (t - b)) bytes (the error of a share in a sample of clusters; Cochran, Sampling Techniques, 3.3).
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OUTSIDE_CENSUS      UINT64_MAX
#define OUTSIDE_CENSUS_UNIT 1e-6 /* of the spread */

/*
 * How messages (event 16) within such a census begin that tell more of it. In a program's own log: its threads. The
 * first message has the number of all; each further one is of a group that waits at one place: threads, bytes (of other
 * bands), and name: "heapwatch threads 412 427828 threads blocked on an MVar in Main.waitForReply".
 */
#define OUTSIDE_SAYS_THREADS "heapwatch threads "

/* Behind all bands: how many closures each of them has, in their order: "heapwatch closures 12000 40 3". */
#define OUTSIDE_SAYS_CLOSURES "heapwatch closures "

/*
 * Behind all bands, of some of them: what most of it is by the types of what its closures hold: its place among the
 * bands, from 0; bytes; name: "heapwatch contents 0 1536000 [Session]".
 */
#define OUTSIDE_SAYS_CONTENTS "heapwatch contents "
#define OUTSIDE_CONTENTS_MOST 32u /* in a census */

/* Whether a message, which ends at `end`, begins so; then *at is behind it. */
static inline bool outside_message_begins(const char **at, const char *end, const char *begin)
{
        const size_t n = strlen(begin);
        const bool begins = (size_t)(end - *at) >= n && memcmp(*at, begin, n) == 0;

        *at += begins ? n : 0;
        return begins;
}

/* `spread`: 0 for a whole census. */
static inline uint64_t outside_census_number(double spread)
{
        const double parts = ceil(spread / OUTSIDE_CENSUS_UNIT);

        return OUTSIDE_CENSUS - (parts > 0 ? (uint64_t)fmin(parts, UINT32_MAX) : 0);
}

/* False: the census was made by the program itself. */
static inline bool outside_census_spread(uint64_t number, double *ret)
{
        const uint64_t parts = OUTSIDE_CENSUS - number;

        *ret = parts <= UINT32_MAX ? (double)parts * OUTSIDE_CENSUS_UNIT : 0;
        return parts <= UINT32_MAX;
}

/* Bytes, of 95 % of estimates. */
static inline double census_margin(double spread, double bytes, double total_bytes)
{
        return bytes > 0 && bytes < total_bytes ? spread * sqrt(bytes * (total_bytes - bytes)) : 0;
}

/* Bytes by which a band may seem to have changed between two such censuses: three standard errors of a difference. */
static inline double census_gain_margin(double spread, double bytes, double total_bytes)
{
        return 3 / 1.96 * M_SQRT2 * census_margin(spread, bytes, total_bytes);
}
