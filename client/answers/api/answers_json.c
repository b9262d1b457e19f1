/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/api/state_json.h"

#include <math.h>

#include "client/answers/census.h"
#include "heapwatch/text.h"
#include "proto/wire/program_command.h"
#include "proto/wire/words.h"

static void put_text(struct json_out *j, const char *key, const char *text)
{
        if (text[0])
                json_member_text(j, key, text);
}

/* `question`: "" for what answers none. */
static void put_answer(struct json_out *j, const char *key, const char *question, const struct target_answer *a)
{
        json_open(j, '{');
        put_text(j, "key", key);
        put_text(j, "question", question);
        put_text(j, "said", a->key ? a->key : "");
        put_text(j, "tone", answer_tone_name(a->tone));
        put_text(j, "text", a->text);
        if (a->has_time)
                json_member_u64_string(j, "timeNs", a->time_ns);
        put_text(j, "after", a->after);
        json_close(j, '}');
}

static void put_summary(struct json_out *j, const struct answers *a)
{
        put_text(j, "word", a->word);
        put_text(j, "tone", answer_tone_name(a->tone));
        json_member_short(j, "rank", a->rank);
        if (a->has_slope)
                json_member_short(j, "slope", a->slope);
        if (a->has_onset) {
                json_member_u64_string(j, "onsetNs", a->onset_ns);
                put_text(j, "onset", answers_onset_words(a));
                if (a->onset_is_latest)
                        json_member_bool(j, "onsetIsLatest", true);
        }
        if (a->has_limit)
                json_member_u64_string(j, "limitInNs", a->limit_ns);
        if (a->has_live_age)
                json_member_u64_string(j, "liveAgeNs", a->live_age_ns);
        if (a->culprit)
                json_member_u64(j, "band", a->culprit);
        put_text(j, "culprit", a->culprit_text);
        put_text(j, "note", a->note);
}

void account_rows_print(struct json_out *j, const char *key, const struct account *a)
{
        json_member_open(j, key, '[');
        for (size_t i = 0; i < a->n; i++)
                put_answer(j, a->rows[i].key, "", &a->rows[i].says);
        json_close(j, ']');
}

static void put_caveats(struct json_out *j, const struct answers *a)
{
        json_member_open(j, "caveats", '[');
        for (size_t i = 0; i < a->n_caveats; i++)
                json_text(j, a->caveats[i]);
        json_close(j, ']');
}

/* How many of the commands of the server, from the first, its program takes. */
static void put_commands(struct json_out *j, const char *uri)
{
        size_t n = 0;

        while (n < n_program_commands && program_command_fits(&program_commands[n], uri))
                n++;
        if (n > 0)
                json_member_u64(j, "commands", n);
}

/* What is known of all numbers, or of those in a table of many targets. */
static void put_numbers(struct json_out *j, const struct world_target *t, bool whole)
{
        static const bool in_tables[FACTS] = { [FACT_LIVE] = true,
                                               [FACT_HEAP_SIZE] = true,
                                               [FACT_RESIDENT] = true,
                                               [FACT_GC_SHARE] = true,
                                               [FACT_GC_SHARE_RUN] = true };
        char text[HW_NUMBER_MAX];
        Hw__TimeToLimit__Source source;
        uint64_t limit;

        if (world_limit(t, &limit, &source)) {
                json_member_open(j, "limit", '[');
                json_u64(j, limit);
                json_text(j, hw_bytes_text(text, sizeof(text), (double)limit));
                json_text(j, limit_name(source));
                json_close(j, ']');
        }
        json_member_open(j, "numbers", '{');
        for (enum fact id = FACT_NONE + 1; id < FACTS; id++) {
                const double value = whole || in_tables[id] ? facts_get(t, id) : NAN;

                if (isnan(value))
                        continue;
                json_member_open(j, fact_rows[id].name, '[');
                json_short(j, value);
                json_text(j, facts_text(text, t, id));
                json_close(j, ']');
        }
        json_close(j, '}');
}

void answers_print(struct json_out *j, const struct world_target *t, bool live, bool whole)
{
        struct answers a;

        if (whole)
                answers_of(&a, t, live);
        else
                answers_brief(&a, t, live);
        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "daemon", t->daemon);
        put_text(j, "target", t->name);
        if (t->run)
                json_member_u64(j, "run", t->run);
        if (t->event_time_ns) {
                json_member_u64_string(j, "eventTimeNs", t->event_time_ns);
                json_member_u64_string(j, "knownUntilNs", world_known_until_ns(t));
        }
        put_summary(j, &a);
        json_member_open(j, "answers", '[');
        for (int q = 0; q < (whole ? QUESTIONS : QUESTION_WRONG + 1); q++) {
                if (q == QUESTION_WHY && !a.answer[q].text[0])
                        continue;
                json_line(j);
                put_answer(j, question_key((enum target_question)q), question_text((enum target_question)q),
                           &a.answer[q]);
        }
        json_close(j, ']');
        put_numbers(j, t, whole);
        if (whole)
                put_caveats(j, &a);
        if (whole)
                census_age_print(j, t, live, false);
        if (whole && live && t->target && t->target->uri)
                put_commands(j, t->target->uri);
        if (whole && !t->census) {
                char text[CENSUS_LINE];

                json_member_text(j, "noCensus", census_absence(text, sizeof(text), t, live));
        }
        if (whole && !t->sched)
                json_member_text(j, "noScheduler", answers_no_scheduler(t));
        if (whole && account_end(t) == END_BADLY) {
                struct account account;

                account_of(&account, t, live);
                account_rows_print(j, "postMortem", &account);
        }
        json_close(j, '}');
}
