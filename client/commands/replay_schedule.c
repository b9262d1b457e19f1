/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/replay_schedule.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_STEP_S 0.01 /* a steady rate is played in steps of this */

void schedule_init(struct schedule *s)
{
        *s = (struct schedule){ .speed = 1 };
}

void schedule_done(struct schedule *s)
{
        free(s->arrivals);
        schedule_init(s);
}

/* One line; *text moves past it. */
static bool parse_line(const char **text, struct arrival *ret_arrival)
{
        char *end;
        double seconds = strtod(*text, &end);

        if (end == *text || *end != ' ' || !isfinite(seconds) || seconds < 0 || end[1] < '0' || end[1] > '9')
                return false;
        unsigned long long offset = strtoull(end + 1, &end, 10);
        if (*end != '\n' && *end)
                return false;
        *text = *end ? end + 1 : end;
        *ret_arrival = (struct arrival){ seconds, offset };
        return true;
}

static bool append(struct schedule *s, size_t *room, struct arrival a)
{
        if (!ARRAY_RESERVE(s->arrivals, *room, s->n + 1))
                return false;
        s->arrivals[s->n++] = a;
        return true;
}

bool schedule_parse(struct schedule *s, const char *text, struct error *error)
{
        struct schedule new = { .bytes_per_s = s->bytes_per_s, .speed = s->speed };
        struct arrival a, last = { 0, 0 };
        const char *problem = NULL;
        size_t room = 0;

        while (*text && !problem) {
                if (!parse_line(&text, &a))
                        problem = "expected `seconds offset`, as in `0.021967 3444`";
                else if (a.seconds < last.seconds || a.offset < last.offset)
                        problem = "time and offset must not go backwards";
                else if (!append(&new, &room, a))
                        problem = "out of memory";
                last = a;
        }
        if (!problem && !new.n)
                problem = "empty; expected lines `seconds offset`";
        if (problem) {
                error_set(error, "line %zu: %s", new.n + 1, problem);
                free(new.arrivals);
                return false;
        }
        free(s->arrivals);
        *s = new;
        return true;
}

/* Index of the first arrival that is after `seconds`. */
static size_t after_time(const struct schedule *s, double seconds)
{
        size_t low = 0, high = s->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (s->arrivals[middle].seconds <= seconds)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

uint64_t schedule_due(const struct schedule *s, double seconds, uint64_t size)
{
        uint64_t due = size;

        seconds *= s->speed;
        if (s->arrivals) {
                size_t i = after_time(s, seconds);
                if (i < s->n) /* after the last arrival everything is due, even bytes that the file does not mention */
                        due = i ? s->arrivals[i - 1].offset : 0;
        } else if (s->bytes_per_s > 0 && seconds * s->bytes_per_s < (double)size) {
                due = (uint64_t)(seconds * s->bytes_per_s);
        }
        return due < size ? due : size;
}

double schedule_next(const struct schedule *s, uint64_t played, uint64_t size)
{
        if (s->arrivals) {
                size_t low = 0, high = s->n - 1; /* the last one releases everything */
                while (low < high) {
                        size_t middle = low + (high - low) / 2;
                        if (s->arrivals[middle].offset > played)
                                high = middle;
                        else
                                low = middle + 1;
                }
                return s->arrivals[low].seconds / s->speed;
        }
        if (s->bytes_per_s <= 0)
                return 0;
        double step = s->bytes_per_s * RATE_STEP_S, target = (double)played + (step > 1 ? step : 1);
        return (target < (double)size ? target : (double)size) / s->bytes_per_s / s->speed;
}
