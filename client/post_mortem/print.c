/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: text is the rows as they are, moments as time into the run; a subject is named in its first row. JSON is the
 * same rows and, for scripts, the numbers behind them.
 */
#include "client/post_mortem/print.h"

#include <string.h>

#include "client/api/answers_json.h"
#include "client/state/facts.h"
#include "heapwatch/text.h"
#include "proto/wire/json.h"

enum { WHOLE = 2 * ANSWER_TEXT + ANSWER_MOMENT };

/* -------------------------------------------------------------------- text */

/* A row that begins with its moment is one of a list: that is short. */
static void print_row(FILE *to, const struct world_target *t, const struct account_row *r)
{
        char time[ANSWER_MOMENT], whole[WHOLE], safe[2 * WHOLE];

        if (r->says.text[0])
                (void)answer_moment(time, t, r->says.time_ns);
        else
                (void)hw_duration_text(time, sizeof(time), (double)r->says.time_ns);
        (void)hw_terminal_text(safe, sizeof(safe), answer_whole(whole, sizeof(whole), &r->says, time));
        (void)fprintf(to, "%s\n", safe);
}

void account_text(FILE *to, const struct account *a, const struct world_target *t)
{
        const char *key = "";
        char at[HW_NUMBER_MAX];

        (void)fprintf(to, "%s, run %u: ", t->name, t->run);
        print_row(to, t, &a->rows[0]);
        if (a->end != END_RUNS && t->target && t->target->has_state_since_wall_ns)
                (void)fprintf(to, "  %-7s %s\n", "date", hw_time_text(at, sizeof(at), t->target->state_since_wall_ns));
        for (size_t i = 1; i < a->n; i++) {
                (void)fprintf(to, "  %-7s ", strcmp(a->rows[i].key, key) ? a->rows[i].key : "");
                key = a->rows[i].key;
                print_row(to, t, &a->rows[i]);
        }
}

/* -------------------------------------------------------------------- JSON */

static void json_memory(struct json_out *j, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;
        const char *words;
        uint64_t limit = 0;
        bool has_limit = account_limit(t, &limit, &words);

        json_member_open(j, "memory", '{');
        facts_print(j, "liveBytes", t, FACT_LIVE);
        facts_print(j, "maxLiveBytes", t, FACT_LIVE_MAX);
        facts_print(j, "heapBytes", t, FACT_HEAP_SIZE);
        facts_print(j, "rssBytes", t, FACT_RESIDENT);
        json_key(j, "resident");
        if (h && h->resident)
                json_message(j, &h->resident->base, true);
        else
                json_none(j);
        facts_print(j, "cgroupBytes", t, FACT_CGROUP);
        json_known_u64(j, "limitBytes", has_limit, limit);
        json_close(j, '}');
}

static void json_bands(struct json_out *j, const struct world_target *t)
{
        const struct world_band *grown[ACCOUNT_BANDS];
        size_t n = account_bands(t, grown);

        json_member_open(j, "bands", '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_member_text(j, "label", grown[i]->def->label);
                json_member_u64(j, "firstBytes", grown[i]->first_bytes);
                json_member_u64(j, "bytes", grown[i]->bytes);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void json_pauses(struct json_out *j, const struct world_target *t)
{
        json_member_open(j, "pauses", '[');
        for (size_t i = 0; t->gc && i < t->gc->n_last; i++) {
                const Hw__Collection *c = t->gc->last[i];
                json_open(j, '{');
                json_member_u64(j, "endNs", c->end_time_ns);
                json_member_u64(j, "pauseNs", c->pause_ns);
                json_member_u64(j, "generation", c->generation);
                json_member_bool(j, "major", c->major);
                json_close(j, '}');
        }
        json_close(j, ']');
}

void account_json(FILE *to, const struct account *a, const struct world_target *t)
{
        static const char *const words[] = { "runs", "ended", "badly", "unknown" };
        struct json_out out = { .to = to }, *j = &out;

        json_open(j, '{');
        json_member_text(j, "target", t->name);
        json_member_u64(j, "run", t->run);
        json_member_text(j, "end", words[a->end]);
        json_member_text(j, "detail", t->target ? t->target->detail : NULL);
        json_member_u64(j, "lengthNs", t->event_time_ns);
        json_memory(j, t);
        json_bands(j, t);
        json_pauses(j, t);
        json_known_u64(j, "lostBytes", t->health != NULL, t->health ? t->health->lost_bytes : 0);
        account_rows_print(j, "rows", a);
        json_close(j, '}');
        json_newline(j);
}
