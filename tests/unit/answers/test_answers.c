/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_answers.c - the answers: from states, verdicts, bands, ends and alerts to words and advice.
 *
 * The states are in answers.txt, and below each what is said of it (golden.h). Each test is a name at the left; then
 *
 *   = leak               what stands below "leak:", so that the lines after it say what is different
 *   + trends.early rate=10MiB rising=true      fields of the newest messages, message_text.h; "." is world_target
 *   + fact census_uncounted_bytes=10MiB    a number that is CARRIED (facts.def), by its name
 *   ?                    the answers; ? account: the post-mortem; ? census 9m: how old it was then
 *   # why this state is there
 *
 * `make golden` writes the answers anew.
 */
#include <math.h>

#include "tests/unit/golden.h"

#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "tests/unit/message_text.h"
#include "tests/unit/phrase_slots.h"

#define STATES    "tests/unit/answers/answers.txt"
#define LINES_MAX 4000

static struct {
        char *text, *lines[LINES_MAX];
        size_t n;
} states;

/* Whatever is NULL is not known. */
static struct {
        struct world_target t;
        struct world_band band, *bands[1];
        bool finished; /* it was read from a log */
} now;

/* ------------------------------------------------------------------ a state */

/* A number that travels by its key, in a heap that is there. */
static void set_fact(const char *name, const char *value)
{
        enum fact id = FACT_NONE + 1;
        Hw__Heap *h = (Hw__Heap *)now.t.heap;

        while (id < FACTS && strcmp(fact_rows[id].name, name) != 0)
                id++;
        if (id == FACTS || !h)
                fail_msg("fact %s: expected a name of proto/facts/facts.def, after a heap", name);
        uint32_t *keys = messages_alloc((h->n_fact + 1) * sizeof(*keys));
        double *values = messages_alloc((h->n_fact + 1) * sizeof(*values));
        for (size_t i = 0; i < h->n_fact; i++) {
                keys[i] = h->fact[i];
                values[i] = h->fact_value[i];
        }
        keys[h->n_fact] = facts_key(id);
        values[h->n_fact] = message_real(value);
        h->fact = keys;
        h->fact_value = values;
        h->n_fact_value = ++h->n_fact;
}

static void set(void *ctx, const char *path, const char *value)
{
#define PLAIN(name, member)                                                                                            \
        {                                                                                                              \
                name, &now.member, sizeof(now.member)                                                                  \
        }
        static const struct {
                const char *name;
                void *at;
                size_t size;
        } plain[] = {
                PLAIN("run", t.run),
                PLAIN("event_time_ns", t.event_time_ns),
                PLAIN("published_wall_ns", t.published_wall_ns),
                PLAIN("n_bands", t.n_bands),
                PLAIN("finished", finished),
                PLAIN("band.id", band.id),
                PLAIN("band.seen", band.seen),
                PLAIN("band.bytes", band.bytes),
                PLAIN("band.first_bytes", band.first_bytes),
                PLAIN("band.max_bytes", band.max_bytes),
                PLAIN("band.census", band.census),
        };
        const struct {
                const char *name;
                const void *at; /* of a pointer to the message */
                const ProtobufCMessageDescriptor *type;
        } kept[] = {
                { "target", &now.t.target, &hw__target__descriptor },
                { "heap", &now.t.heap, &hw__heap__descriptor },
                { "gc", &now.t.gc, &hw__gc__descriptor },
                { "census", &now.t.census, &hw__census__descriptor },
                { "health", &now.t.health, &hw__health__descriptor },
                { "trends", &now.t.trend_state, &hw__trends__descriptor },
                { "alerts", &now.t.alerts, &hw__alerts__descriptor },
                { "band.def", &now.band.def, &hw__band__descriptor },
                { "band.contents", &now.band.contents, &hw__band_contents__descriptor },
                { "band.trend", &now.band.trend, &hw__trend__descriptor },
                { "live", &now.t.trends[HW__SERIES__SERIES_LIVE], &hw__trend__descriptor },
                { "heap_size", &now.t.trends[HW__SERIES__SERIES_HEAP_SIZE], &hw__trend__descriptor },
                { "rss", &now.t.trends[HW__SERIES__SERIES_RSS], &hw__trend__descriptor },
                { "foreign", &now.t.trends[HW__SERIES__SERIES_FOREIGN], &hw__trend__descriptor },
        };

        for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
                if (!strcmp(plain[i].name, path)) {
                        const uint64_t n = !strcmp(value, "true")    ? 1
                                           : !strcmp(value, "false") ? 0
                                                                     : message_whole(value);
                        if (plain[i].size == sizeof(bool))
                                *(bool *)plain[i].at = n;
                        else if (plain[i].size == sizeof(uint32_t))
                                *(uint32_t *)plain[i].at = (uint32_t)n;
                        else
                                *(uint64_t *)plain[i].at = n;
                        return;
                }
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                const size_t n = strlen(kept[i].name);
                if (strncmp(path, kept[i].name, n) != 0 || (path[n] != '.' && path[n] != '\0'))
                        continue;
                message_set_in((ProtobufCMessage **)kept[i].at, kept[i].type, path + n + (path[n] == '.'), value);
                return;
        }
        if (!strncmp(path, "fact.", 5)) {
                set_fact(path + 5, value);
                return;
        }
        if (strcmp(path, "name") != 0)
                fail_msg("%s is nothing that can be set", path);
        (void)snprintf(now.t.name, sizeof(now.t.name), "%s", value);
}

static void begin(const char *name);

/* Whether the line says something of a state. */
static bool set_by(const char *line)
{
        if (!strncmp(line, "  = ", 4))
                begin(line + 4);
        else if (!strncmp(line, "  + ", 4))
                message_each(line + 4, set, NULL);
        else
                return !strncmp(line, "  #", 3);
        return true;
}

/* The state with that name in place of, or beside, the one before. */
static void begin(const char *name)
{
        const size_t n = strlen(name);
        size_t i = 0;

        if (!strcmp(name, "nothing")) {
                memset(&now, 0, sizeof(now));
                messages_forget();
                now.bands[0] = &now.band;
                now.t.bands = now.bands;
                return;
        }
        while (i < states.n && (strncmp(states.lines[i], name, n) != 0 || strcmp(states.lines[i] + n, ":") != 0))
                i++;
        if (i == states.n)
                fail_msg("%s has no state %s", STATES, name);
        while (++i < states.n && set_by(states.lines[i]))
                ;
}

/* --------------------------------------------------------- what is said of it */

static void says(const char *what, const struct target_answer *a)
{
        char time[40], text[2 * ANSWER_TEXT], whole[3 * ANSWER_TEXT] = "";

        (void)snprintf(time, sizeof(time), "<%gs>", (double)a->time_ns / 1e9);
        answer_whole(text, sizeof(text), a, time);
        if (text[0])
                (void)snprintf(whole, sizeof(whole), "%s  [%s%s%s]", text, answer_tone_name(a->tone), a->key ? " " : "",
                               a->key ? a->key : "");
        golden_says(what, whole);
}

/* Tables show the same as the picture of one target. */
static void check_brief(const struct answers *a)
{
        struct answers b;

        answers_brief(&b, &now.t, !now.finished);
        assert_string_equal(b.word, a->word);
        assert_int_equal(b.tone, a->tone);
        assert_true(b.rank >= a->rank && b.rank <= a->rank);
        assert_int_equal(b.verdict, a->verdict);
        assert_true(b.has_slope == a->has_slope && b.has_onset == a->has_onset && b.has_limit == a->has_limit);
        assert_true(b.slope >= a->slope && b.slope <= a->slope);
        assert_int_equal(b.onset_ns, a->onset_ns);
        assert_int_equal(b.limit_ns, a->limit_ns);
        assert_int_equal(b.culprit, a->culprit);
        assert_string_equal(b.culprit_text, a->culprit_text);
        assert_string_equal(b.answer[QUESTION_WRONG].text, a->answer[QUESTION_WRONG].text);
}

static double say_answers(void)
{
        char text[2 * ANSWER_TEXT], what[16];
        struct answers a;

        answers_of(&a, &now.t, !now.finished);
        check_brief(&a);
        (void)snprintf(text, sizeof(text), "%s  [%s]", a.word, answer_tone_name(a.tone));
        golden_says("word", text);
        for (int q = 0; q < QUESTIONS; q++) {
                assert_true(q == QUESTION_WHY || a.answer[q].text[0] != '\0');
                says(question_key((enum target_question)q), &a.answer[q]);
        }
        golden_says("culprit", a.culprit_text);
        golden_says("headline", answers_headline(text, sizeof(text), &a, "5m 00s"));
        FILE *f = fmemopen(text, sizeof(text), "w");
        assert_non_null(f);
        (void)fprintf(f, "rank %.4g", a.rank);
        if (a.has_slope)
                (void)fprintf(f, ", %.6g B/s", a.slope);
        if (a.has_onset)
                (void)fprintf(f, ", since %gs%s", (double)a.onset_ns / 1e9, a.onset_is_latest ? " at the latest" : "");
        if (a.has_limit)
                (void)fprintf(f, ", limit in %gs", (double)a.limit_ns / 1e9);
        (void)fprintf(f, ", band %u%s%s", a.culprit, answers_grow(&a) ? ", grows" : "",
                      a.ended_rising ? ", ended rising" : "");
        assert_int_equal(fclose(f), 0);
        golden_says("numbers", text);
        for (size_t i = 0; i < ANSWER_CAVEATS; i++) {
                (void)snprintf(what, sizeof(what), "caveat %zu", i + 1);
                golden_says(what, i < a.n_caveats ? a.caveats[i] : "");
        }
        return a.rank;
}

static void say_account(void)
{
        struct account account;

        account_of(&account, &now.t, !now.finished);
        says(account.rows[0].key, &account.rows[0].says);
        for (size_t i = 1; i < account.n; i++)
                if (!strcmp(account.rows[i].key, "limit"))
                        says("limit", &account.rows[i].says);
}

static void say_census(uint64_t now_ns)
{
        struct census_age age;
        char line[CENSUS_LINE], old[40] = "";
        uint64_t old_ns;

        census_age_of(&age, &now.t, true);
        golden_says("age", census_age_text(line, sizeof(line), &age, now_ns));
        assert_int_equal(age.any, line[0] != '\0');
        golden_says("absence", now.t.census ? "" : census_absence(line, sizeof(line), &now.t, !now.finished));
        if (live_is_old(&now.t, &old_ns))
                (void)snprintf(old, sizeof(old), "%gs", (double)old_ns / 1e9);
        golden_says("old", old);
}

TEST(read_states)
{
        FILE *f = fopen(STATES, "r");
        size_t size = 0;

        if (!f || getdelim(&states.text, &size, '\0', f) < 0)
                fail_msg("%s: %s", STATES, strerror(errno));
        (void)fclose(f);
        for (char *line = states.text, *end; *line; line = end) {
                end = line + strcspn(line, "\n");
                if (*end)
                        *end++ = '\0';
                assert_in_range(states.n, 0, LINES_MAX - 1);
                states.lines[states.n++] = line;
        }
}

TEST(states_have_their_answers)
{
        bool ranked = false;
        double rank = 0;

        for (size_t i = 0; i < states.n; i++) {
                const char *line = states.lines[i];
                if (*line && *line != ' ') {
                        golden_open(line);
                        ranked = !strcmp(line, "the_worst_comes_first");
                        rank = HUGE_VAL;
                } else if (set_by(line)) {
                        (void)fprintf(golden.out, "%s\n", line);
                } else if (!strncmp(line, "  ?", 3)) {
                        (void)fprintf(golden.out, "%s\n", line);
                        if (!strcmp(line, "  ? account")) {
                                say_account();
                        } else if (!strncmp(line, "  ? census", 10)) {
                                say_census(message_whole(line + 11));
                        } else {
                                const double before = rank;
                                rank = say_answers();
                                assert_true(!ranked || rank < before);
                        }
                }
        }
}

TEST(hostile_texts_are_cut_at_a_character)
{
        struct answers a;
        char label[4000], text[60];

        begin("leak");
        for (size_t i = 0; i + 3 < sizeof(label); i += 3)
                memcpy(label + i, "€", 3);
        label[sizeof(label) - 1 - (sizeof(label) - 1) % 3] = '\0';
        set(NULL, "trends.growth.bands.0.label", label);
        set(NULL, "trends.growth.bands.0.band", "77"); /* none of the bands that are known */
        answers_of(&a, &now.t, true);
        assert_true(hw_utf8_valid(a.culprit_text, strlen(a.culprit_text)));
        for (int q = 0; q < QUESTIONS; q++) {
                assert_true(hw_utf8_valid(a.answer[q].text, strlen(a.answer[q].text)));
                assert_non_null(question_text((enum target_question)q));
        }
        assert_int_equal(strlen(answers_headline(text, sizeof(text), &a, "5m 00s")), sizeof(text) - 1);
}

TEST_GOLDEN(STATES)

TEST(sentences_name_slots_that_there_are)
{
#define TABLE(...)
#define END
#define SAY(key, tone, condition, text) { key, text, 0 },
#define SLOT(name, ...)                 #name,
        static const struct phrase_row rows[] = {
#include "client/answers/sentences.def"
                { NULL, NULL, 0 }
        };
        static const char *const names[] = {
#include "client/answers/slots.def"
                NULL
        };

        assert_slots_exist(rows, names);
}
