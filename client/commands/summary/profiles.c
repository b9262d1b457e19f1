/* SPDX-License-Identifier: BSD-3-Clause */
/* profiles.c - the heap profile with its largest bands, the time profile with its cost centres, ticky counters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "client/answers/census.h"
#include "client/commands/summary/summary.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

#define LABEL 80 /* bytes of a name shown */

/* --------------------------------------------------------- heap profile */

static const struct {
        const char *flag, *words;
} modes[] = {
        [HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK] = { "-hc", "cost centre stack" },
        [HW__BREAKDOWN__BREAKDOWN_MODULE] = { "-hm", "module" },
        [HW__BREAKDOWN__BREAKDOWN_CLOSURE_DESCRIPTION] = { "-hd", "closure description" },
        [HW__BREAKDOWN__BREAKDOWN_TYPE] = { "-hy", "type" },
        [HW__BREAKDOWN__BREAKDOWN_RETAINER] = { "-hr", "retainer set" },
        [HW__BREAKDOWN__BREAKDOWN_BIOGRAPHY] = { "-hb", "biography" },
        [HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE] = { "-hT", "closure type" },
        [HW__BREAKDOWN__BREAKDOWN_INFO_TABLE] = { "-hi", "info table" },
        [HW__BREAKDOWN__BREAKDOWN_ERA] = { "-he", "era" },
};

/* 0 if unknown. */
static size_t mode_of(const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;
        int mode = run && run->has_breakdown ? (int)run->breakdown : 0;

        return mode > 0 && (size_t)mode < ARRAY_SIZE(modes) ? (size_t)mode : 0;
}

bool profile_known(const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;

        return s->censuses > 0 || s->census_unfinished || mode_of(s) > 0 || (run && run->no_census);
}

static uint64_t count_bands(const struct summary *s)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < s->t->n_bands; i++)
                n += s->t->bands[i] && (s->now || s->t->bands[i]->max_bytes > 0);
        return n;
}

static void print_bands(FILE *to, const struct summary *s)
{
        const struct world_band *top[SUMMARY_BANDS];
        size_t n = world_top_bands(s->t, top, SUMMARY_BANDS);
        char last[HW_NUMBER_MAX], max[HW_NUMBER_MAX];
        double uncounted, total = s->t->census ? (double)s->t->census->total_bytes : 0;
        const bool adds = census_uncounted(s->t, &uncounted);

        if (n == 0 || !(total > 0))
                return;
        total += adds ? uncounted : 0;
        (void)fprintf(to, "%18s %10s %8s %10s  band\n", "bytes in the last", "", "", s->now ? "" : "largest");
        for (size_t i = 0; i < n && top[i]->bytes > 0; i++)
                (void)fprintf(to, "%18s %10s %8s %10s  %s\n", hw_count_text(last, sizeof(last), top[i]->bytes), "",
                              SHARE_TEXT((double)top[i]->bytes / total),
                              s->now ? "" : hw_bytes_text(max, sizeof(max), (double)top[i]->max_bytes),
                              SAFE_TEXT(LABEL, top[i]->def->label));
        if (adds) {
                (void)hw_count_text(max, sizeof(max), u64_sat(fabs(uncounted)));
                (void)text_join(last, sizeof(last), uncounted < 0 ? "-" : "", max, NULL);
                (void)fprintf(to, "%18s %10s %8s %10s  " UNCOUNTED_NAME "\n", last, "", SHARE_TEXT(uncounted / total),
                              "");
        }
}

void profile_text(FILE *to, const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;
        size_t mode = mode_of(s);
        uint64_t n = count_bands(s);

        (void)fputs("\n  Heap profile", to);
        if (mode)
                (void)fprintf(to, " %s, by %s", modes[mode].flag, modes[mode].words);
        if (run && run->has_census_period_ns && run->census_period_ns) /* 0: as they could be had, from outside */
                (void)fprintf(to, ", every %s", DURATION_TEXT(run->census_period_ns));
        (void)fprintf(to, ": %s census%s, %s band%s\n", COUNT_TEXT(s->censuses), s->censuses == 1 ? "" : "es",
                      COUNT_TEXT(n), plural(n));
        if (s->census_unfinished)
                (void)fputs("  one more census was cut off by the end of the log\n", to);
        struct census_age age;
        char line[CENSUS_LINE];

        census_age_of(&age, s->t, s->now);
        if (age.any)
                (void)fprintf(to, "  %s\n",
                              SAFE_TEXT(4 * CENSUS_LINE,
                                        census_age_text(line, sizeof(line), &age, world_known_until_ns(s->t))));
        print_bands(to, s);
}

/* All bands, in order of id: programs select for themselves. */
void profile_json(struct json_out *j, const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;
        size_t mode = mode_of(s);

        json_known_text(j, "mode", mode ? modes[mode].flag : NULL);
        json_known_text(j, "by", mode ? modes[mode].words : NULL);
        json_known_u64(j, "periodNs", run && run->has_census_period_ns, run ? run->census_period_ns : 0);
        json_known_u64(j, "censuses", true, s->censuses);
        json_known_u64(j, "unfinishedCensuses", s->census_unfinished, 1);
        census_age_print(j, s->t, s->now, true);
        json_member_open(j, "bands", '[');
        for (uint32_t i = 0; i < s->t->n_bands; i++) {
                const struct world_band *b = s->t->bands[i];
                if (!b || !b->max_bytes)
                        continue;
                json_open(j, '{');
                json_known_text(j, "label", b->def->label);
                json_known_u64(j, "key", b->def->has_key, b->def->key);
                json_known_u64(j, "bytes", true, b->bytes);
                json_known_u64(j, "maxBytes", !s->now, b->max_bytes);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* --------------------------------------------------------- time profile */

bool ticks_known(const struct summary *s)
{
        return s->t->ticks > 0;
}

/* Whether the runtime counts the stack as the program's own time: all but those of these four centres. */
static bool is_own(const Hw__Stack *stack)
{
        static const char *const others[] = { "IDLE", "GC", "SYSTEM", "OVERHEAD_of" };
        const char *label = stack->n_centres ? stack->centres[0]->label : NULL;

        for (size_t i = 0; label && i < ARRAY_SIZE(others); i++)
                if (!strcmp(label, others[i]))
                        return false;
        return true;
}

static uint64_t own_ticks(const struct summary *s)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < s->t->n_stacks; i++)
                if (s->t->stacks[i] && is_own(s->t->stacks[i]))
                        n += s->t->stacks[i]->ticks;
        return n;
}

/* What was found in a cost centre itself, whatever had called it. */
struct own_ticks {
        const Hw__CostCentre *centre; /* NULL: in none */
        uint64_t ticks;
};

static uint64_t centre_id(const struct own_ticks *o)
{
        return o->centre ? o->centre->id : UINT64_MAX;
}

static int compare_centres(const void *a, const void *b)
{
        const uint64_t x = centre_id(a), y = centre_id(b);

        return (x > y) - (x < y);
}

static int compare_ticks(const void *a, const void *b)
{
        const struct own_ticks *x = a, *y = b;

        return x->ticks != y->ticks ? (x->ticks > y->ticks ? -1 : 1) : compare_centres(a, b);
}

/* Those of each cost centre, the most first; to free(). NULL: out of memory. */
static struct own_ticks *rank_centres(const struct summary *s, size_t *ret_n)
{
        struct own_ticks *all = calloc(s->t->n_stacks + 1u, sizeof(*all));
        size_t n = 0, merged = 0;

        for (uint32_t i = 0; all && i < s->t->n_stacks; i++) {
                const Hw__Stack *stack = s->t->stacks[i];
                if (stack && is_own(stack))
                        all[n++] = (struct own_ticks){ stack->n_centres ? stack->centres[0] : NULL, stack->ticks };
        }
        ARRAY_SORT(all, n, compare_centres);
        for (size_t i = 0; i < n; i++) {
                if (merged && centre_id(&all[merged - 1]) == centre_id(&all[i]))
                        all[merged - 1].ticks += all[i].ticks;
                else
                        all[merged++] = all[i];
        }
        ARRAY_SORT(all, merged, compare_ticks);
        *ret_n = merged;
        return all;
}

static void print_centres(FILE *to, const struct summary *s)
{
        const uint64_t own = own_ticks(s);
        size_t n = 0;
        struct own_ticks *ranked = rank_centres(s, &n);

        for (size_t i = 0; i < n && i < SUMMARY_BANDS && own > 0; i++) {
                const Hw__CostCentre *c = ranked[i].centre;
                (void)fprintf(to, "%18s %8s  %s", COUNT_TEXT(ranked[i].ticks),
                              SHARE_TEXT((double)ranked[i].ticks / (double)own),
                              SAFE_TEXT(LABEL, c ? c->label ? c->label : "?" : "MAIN"));
                if (c && c->source && c->source[0])
                        (void)fprintf(to, "  %s", SAFE_TEXT(LABEL, c->source));
                (void)fputc('\n', to);
        }
        free(ranked);
}

void ticks_text(FILE *to, const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;

        (void)fputs(s->t->is_sampled ? "\n  Samples of stacks by ghc-stack-profiler" : "\n  Time profile", to);
        if (run && run->has_tick_interval_ns && !s->t->is_sampled)
                (void)fprintf(to, ", every %s", DURATION_TEXT(run->tick_interval_ns));
        if (s->t->is_sampled) {
                (void)fprintf(to, ": %s, of threads that ran or waited for an MVar\n", COUNT_TEXT(s->t->ticks));
                print_centres(to, s);
                return;
        }
        (void)fprintf(to, ": %s samples, %s of them the program's own\n", COUNT_TEXT(s->t->ticks),
                      COUNT_TEXT(own_ticks(s)));
        print_centres(to, s);
}

void ticks_json(struct json_out *j, const struct summary *s)
{
        const Hw__Run *run = s->t->target ? s->t->target->run_info : NULL;

        json_known_u64(j, "intervalNs", run && run->has_tick_interval_ns, run ? run->tick_interval_ns : 0);
        json_known_u64(j, "ticks", true, s->t->ticks);
        json_known_u64(j, "ownTicks", true, own_ticks(s));
        json_known_u64(j, "stacks", true, s->t->n_stacks);
}

/* ---------------------------------------------------------------- ticky */

bool ticky_known(const struct summary *s)
{
        return s->t->n_ticky > 0;
}

void ticky_text(FILE *to, const struct summary *s)
{
        (void)fprintf(to, "\n  Ticky: %s counter%s\n", COUNT_TEXT(s->t->n_ticky), plural(s->t->n_ticky));
}

void ticky_json(struct json_out *j, const struct summary *s)
{
        json_known_u64(j, "counters", true, s->t->n_ticky);
}
