/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_console.c - every view, drawn without a terminal and used with keys and clicks.
 *
 * What is a sequence of messages, keys, and what is on the screen then stands in console.txt: below the name of a test
 * a line for each step, whose first word is in `steps` below, or "+": fields of the message that is sent next. Each
 * test begins with a console of the target api-1.
 */
#include <stdio.h>
#include "tests/unit/test.h"

#include <locale.h>

#include "client/console/console.h"
#include "proto/base/array.h"
#include "proto/base/utf8.h"
#include "tests/unit/console/drawn.h"

#define SCRIPT    "tests/unit/console/console.txt"
#define WORDS_MAX 24
#define BANDS_MAX 8

struct world {
        struct world *world;
        struct console *console;
        int height, width; /* of the screen that is looked at */
        Hw__Update update; /* that is sent next */
};

/* One service with five bands over ten censuses: the second grows. */
static void fill(struct world *v, const char *name)
{
        const char *labels[] = { "ARR_WORDS", "Main.sessions", "THUNK_1_0", "Main.cache", "TSO" };
        uint32_t ids[] = { 1, 2, 3, 4, 5 };

        assert_int_equal(send_state(v, 0, name, 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        for (uint32_t i = 0; i < 5; i++)
                assert_int_equal(send_band(v, name, 1, ids[i], labels[i]), 0);
        for (uint64_t n = 1; n <= 10; n++) {
                uint64_t bytes[] = { 40 * MIB, n * 10 * MIB, 3 * MIB, 2 * MIB + n, 1000 };

                assert_int_equal(send_census(v, name, 1, n, ids, bytes, 5), 0);
                assert_int_equal(send_live(v, 0, name, 1, n * SECOND, n * 10 * MIB), 0);
        }
        assert_int_equal(send_note(v, name, 1, 1, "cache on"), 0);
}

/* The console sees a census of api-1 as the world is sent it. */
static void watch_census(struct console *c, uint64_t number, uint32_t *ids, uint64_t *bytes, size_t n)
{
        Hw__Update u = update_of("api-1", 1, number * SECOND);
        Hw__Census census = census_of(number, ids, bytes, n);

        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &census;
        console_watch(c, 0, &u);
}

static void watch(struct console *c)
{
        uint32_t ids[] = { 1, 2, 3, 4, 5 };

        for (uint64_t n = 1; n <= 10; n++) {
                uint64_t bytes[] = { 40 * MIB, n * 10 * MIB, 3 * MIB, 2 * MIB + n, 1000 };

                watch_census(c, n, ids, bytes, 5);
        }
}

static int setup(void **state)
{
        struct world *w = calloc(1, sizeof(*w));

        assert_non_null(w);
        w->height = 40;
        w->width = 140;
        hw__update__init(&w->update);
        w->world = world_new(&console_past);
        fill(w->world, "api-1");
        w->console = console_new(w->world, true);
        assert_non_null(w->console);
        watch(w->console);
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct world *w = *state;

        console_destroy(&w->console);
        world_destroy(&w->world);
        free(w);
        return 0;
}

static struct console *console_of(void **state)
{
        return ((struct world *)*state)->console;
}

/* -------------------------------------------------------------------- steps */

struct step {
        struct world *w;
        struct console *c;
        const char *line;                  /* of the script */
        char *all[WORDS_MAX + 1], **words; /* without the first, and how many */
        size_t n;
};

static uint64_t number_of(const struct step *s, size_t i)
{
        assert_true(i < s->n);
        return message_whole(s->words[i]);
}

static bool yes(const char *word)
{
        return !strcmp(word, "yes");
}

static int key_of(const char *name)
{
        static const struct {
                const char *name;
                int key;
        } keys[] = { { "UP", SCREEN_UP },
                     { "DOWN", SCREEN_DOWN },
                     { "LEFT", SCREEN_LEFT },
                     { "ENTER", SCREEN_ENTER },
                     { "ESCAPE", SCREEN_ESCAPE },
                     { "HOME", SCREEN_HOME },
                     { "END", SCREEN_END },
                     { "SPACE", ' ' },
                     { "BACKSPACE", SCREEN_BACKSPACE } };

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (!strcmp(keys[i].name, name))
                        return keys[i].key;
        assert_int_equal(strlen(name), 1);
        return name[0];
}

/* "b", "ENTER", "20*+". */
static void step_press(const struct step *s)
{
        for (size_t i = 0; i < s->n; i++) {
                const char *many = strchr(s->words[i] + 1, '*');
                press_times(s->c, many ? (int)strtoul(s->words[i], NULL, 10) : 1,
                            key_of(many ? many + 1 : s->words[i]));
        }
}

static void step_type(const struct step *s)
{
        type(s->c, s->words[0]);
}

static void step_shows(const struct step *s)
{
        assert_true(screen_has(s->c, s->w->height, s->w->width, true, (const char *const *)s->words));
}

static void step_hides(const struct step *s)
{
        assert_true(screen_has(s->c, s->w->height, s->w->width, false, (const char *const *)s->words));
}

/* The first row with the first text has the others, too. */
static void step_row(const struct step *s)
{
        assert_true(s->n > 1 && row_has(s->c, s->words[0], (const char *const *)s->words + 1));
}

/* There is nothing else before it in its row. */
static void step_alone(const struct step *s)
{
        char *row = row_with(s->c, s->words[0]);

        assert_ptr_equal(strstr(row, s->words[0]), row + strspn(row, " "));
        free(row);
}

/* Between two texts there is a third, or with "!" before it is not. */
static void step_between(const struct step *s)
{
        char *all = drawn(s->c, s->w->height, s->w->width, false), *from = strstr(all, s->words[0]),
             *to = from ? strstr(from, s->words[1]) : NULL;
        const bool none = s->words[2][0] == '!';
        const char *what = s->words[2] + none;

        if (!to || (memmem(from, (size_t)(to - from), what, strlen(what)) != NULL) == none)
                fail_msg("%s", all);
        free(all);
}

static void step_above(const struct step *s)
{
        assert_true(place_of(s->c, s->words[0]) >= 0 && place_of(s->c, s->words[0]) < place_of(s->c, s->words[1]));
}

static void step_place(const struct step *s)
{
        assert_int_equal(place_of(s->c, s->words[1]), number_of(s, 0));
}

static void step_is(const struct step *s)
{
        for (size_t i = 0; i < s->n; i++) {
                char *what = s->words[i], *expected = strchr(what, '=');
                assert_non_null(expected);
                *expected++ = '\0';
                if (!strcmp(what, "view"))
                        assert_string_equal(s->c->shown->class->name, expected);
                else if (!strcmp(what, "target"))
                        assert_string_equal(s->c->target, expected);
                else if (!strcmp(what, "band"))
                        assert_string_equal(((const struct world_band *)table_selected(s->c->table))->def->label,
                                            expected);
                else if (!strcmp(what, "quit"))
                        assert_int_equal(s->c->quit, yes(expected));
                else
                        fail_msg("is %s?", what);
        }
}

static void step_tint(const struct step *s)
{
        const char *name = s->words[1];
        struct canvas *canvas = canvas_new(s->w->height, s->w->width, false);

        console_prepare(s->c, NOW_NS);
        console_draw(s->c, canvas);
        assert_int_equal(canvas_cell(canvas, (int)number_of(s, 0), 4)->tint, !strcmp(name, "selected") ? TINT_SELECTED
                                                                             : !strcmp(name, "warn")   ? TINT_WARN
                                                                                                       : TINT_PLAIN);
        canvas_destroy(&canvas);
}

/* As `top --once` prints all targets; with "!" before it: not. */
static void step_prints(const struct step *s)
{
        static const struct plain_options options = { .view = "targets", .width = 100 };
        const bool none = s->words[0][0] == '!';
        char *text = NULL;
        size_t size;
        FILE *to = open_memstream(&text, &size);

        assert_non_null(to);
        assert_int_equal(plain_report(to, s->c, &options, 1000), 0);
        (void)fclose(to);
        assert_int_equal(strstr(text, s->words[0] + none) != NULL, !none);
        free(text);
}

static void step_size(const struct step *s)
{
        s->w->height = (int)number_of(s, 0);
        s->w->width = (int)number_of(s, 1);
}

static void step_fill(const struct step *s)
{
        fill(s->w->world, s->words[0]);
}

/* Of api-1: its number, which is its second, and the bytes of bands. */
static void step_census(const struct step *s)
{
        uint32_t ids[BANDS_MAX];
        uint64_t bytes[BANDS_MAX];

        assert_in_range(s->n, 2, BANDS_MAX);
        for (uint32_t i = 1; i < s->n; i++) {
                ids[i - 1] = i;
                bytes[i - 1] = number_of(s, i);
        }
        watch_census(s->c, number_of(s, 0), ids, bytes, s->n - 1);
        assert_int_equal(send_census(s->w->world, "api-1", 1, number_of(s, 0), ids, bytes, s->n - 1), 0);
}

static void step_live(const struct step *s)
{
        assert_int_equal(send_live(s->w->world, 0, "api-1", 1, number_of(s, 0), number_of(s, 1)), 0);
}

/* The first number, how many behind the last, the text. */
static void step_notes(const struct step *s)
{
        for (uint64_t i = number_of(s, 0); i <= number_of(s, 1); i++)
                assert_int_equal(send_note(s->w->world, "api-1", 1, i, s->words[2]), 0);
}

static void step_state(const struct step *s)
{
        const ProtobufCEnumValue *v =
                protobuf_c_enum_descriptor_get_value_by_name(&hw__target__state__descriptor, s->words[1]);

        assert_non_null(v);
        assert_int_equal(send_state(s->w->world, 0, s->words[0], 1, (Hw__Target__State)v->value), 0);
}

/* Of a target, at 10 s of its run or when it is said. */
static void step_keep(const struct step *s)
{
        Hw__Update *u = &s->w->update, to = update_of(s->words[0], s->words[0][0] != '\0', s->n > 1 ? 0 : 10 * SECOND);

        to.body_case = u->body_case;
        to.heap = u->heap; /* whichever message it is: all share this place */
        assert_int_equal(apply_made(s->w->world, 0, &to), 0);
}

static void step_send(const struct step *s)
{
        step_keep(s);
        hw__update__init(&s->w->update);
        messages_forget();
}

static void step_stale(const struct step *s)
{
        world_set_stale(s->w->world, 0, yes(s->words[0]));
}

static void step_forget(const struct step *s)
{
        console_forget(s->c, 0);
        world_reset(s->w->world, 0);
}

static void step_empty(const struct step *s)
{
        console_destroy(&s->w->console);
        world_destroy(&s->w->world);
        s->w->world = world_new(&console_past);
        s->w->console = console_new(s->w->world, true);
        assert_non_null(s->w->console);
}

static const struct {
        const char *name;
        void (*take)(const struct step *s);
} steps[] = {
        { "press", step_press }, { "type", step_type },     { "shows", step_shows },     { "hides", step_hides },
        { "row", step_row },     { "alone", step_alone },   { "between", step_between }, { "above", step_above },
        { "place", step_place }, { "is", step_is },         { "tint", step_tint },       { "prints", step_prints },
        { "size", step_size },   { "fill", step_fill },     { "census", step_census },   { "live", step_live },
        { "notes", step_notes }, { "state", step_state },   { "keep", step_keep },       { "send", step_send },
        { "stale", step_stale }, { "forget", step_forget }, { "empty", step_empty },
};

/* Into words: what is in "" is one, or a part of one, in which \n is a new line. */
static void split_words(struct step *s, char *line)
{
        char *to = line;

        for (s->n = 0; *line;) {
                assert_in_range(s->n, 0, WORDS_MAX - 1);
                s->all[s->n++] = to;
                for (bool quoted = false; *line && (quoted || *line != ' '); line++) {
                        if (*line == '"')
                                quoted = !quoted;
                        else if (line[0] == '\\' && line[1] == 'n')
                                *to++ = '\n', line++;
                        else
                                *to++ = *line;
                }
                line += strspn(line, " ");
                *to++ = '\0';
        }
        s->all[s->n] = NULL;
        s->words = s->all + 1;
}

static void take_step(struct world *w, char *line)
{
        struct step s = { .w = w, .c = w->console };
        size_t i = 0;

        if (*line == '+') {
                message_each(line + 2, set_in_update, &w->update);
                return;
        }
        split_words(&s, line);
        while (i < ARRAY_SIZE(steps) && strcmp(steps[i].name, s.all[0]) != 0)
                i++;
        if (i == ARRAY_SIZE(steps))
                fail_msg("there is no step %s", s.all[0]);
        s.n--;
        steps[i].take(&s);
}

static char taken[1000]; /* the step that failed, or "" */

static int say_taken(void **state)
{
        if (taken[0])
                print_message("%s\n", taken);
        return 0;
}

TEST_WITH(what_is_on_the_screen, NULL, say_taken)
{
        FILE *f = fopen(SCRIPT, "r");
        char line[1000];
        void *w = NULL;

        assert_non_null(f);
        for (unsigned n = 1; fgets(line, sizeof(line), f); n++) {
                line[strcspn(line, "\n")] = '\0';
                const char *step = line + strspn(line, " ");
                if (*line && *line != ' ') {
                        if (w)
                                (void)teardown(&w);
                        (void)setup(&w);
                        messages_forget();
                } else if (*step && *step != '#') {
                        (void)snprintf(taken, sizeof(taken), "%s:%u: %s", SCRIPT, n, step);
                        take_step(w, line + strspn(line, " "));
                }
        }
        taken[0] = '\0';
        (void)fclose(f);
        (void)teardown(&w);
}

/* --------------------------------------------------------------------- rest */

TEST_WITH(the_way_to_the_help_is_on_every_screen, setup, teardown)
{
        for (int width = 10; width < 140; width++) {
                char *all = drawn(console_of(state), 16, width, false);

                if (!strstr(all, "? q") && !strstr(all, "? help  q quit"))
                        fail_msg("%d columns:\n%s", width, all);
                free(all);
        }
}

/* A time of days ago shows its day, and is not wider for it. */
TEST(moments_of_other_days)
{
        const uint64_t hour = 3600 * SECOND, wall = 1700000000 * SECOND; /* a Tuesday, 22:13:20 */
        char text[SHORT_TEXT];

        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + hour), "22:13:20");
        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + 30 * hour), "Tu 22:13");
        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + 1000 * hour), "14 Nov");
}

/* No number is cut: a column has room for the longest text of its unit. */
TEST(numbers_fit_their_columns)
{
        static const struct {
                enum unit unit;
                double number;
        } longest[] = {
                { UNIT_BYTES, 1023 * 1024.0 }, { UNIT_CHANGE, -1023 * 1024.0 },     { UNIT_SHARE, 1 },
                { UNIT_RATE, 1023 * 1024.0 },  { UNIT_SLOPE, -1023 * 1024.0 / 60 }, { UNIT_INTEGRAL, 1023 * 1024.0 },
                { UNIT_NS, 59.9 * 60e9 }
        };

        for (size_t i = 0; console_views[i]; i++) {
                for (size_t k = 0; k < VIEW_TABLES && console_views[i]->tables[k]; k++) {
                        const struct table_class *t = console_views[i]->tables[k];

                        for (size_t n = 0; n < t->n_columns; n++) {
                                const struct column *column = &t->columns[n];

                                for (size_t u = 0; u < sizeof(longest) / sizeof(longest[0]); u++) {
                                        char text[SHORT_TEXT];
                                        int width = column->width < 0 ? -column->width : column->width;

                                        if (column->unit != longest[u].unit || column->draw || column->hidden)
                                                continue;
                                        (void)unit_text(text, sizeof(text), column->unit, longest[u].number);
                                        if (text_columns(text) > width)
                                                fail_msg("%s: %s: '%s' has no room", t->name, column->name, text);
                                }
                        }
                }
        }
}

TEST(a_line_ends_between_words_and_not_in_a_number)
{
        static const struct {
                const char *text, *first;
                int width;
        } cases[] = {
                { "limit in 6d 23h", "limit in ", 12 },
                { "live 26.7 KiB, RSS 57.2 MiB", "live 26.7 KiB, RSS ", 24 },
                { "since 5:00 (cache on)", "since 5:00 ", 13 },
                { "12 MiB", "12 ", 4 }, /* there is no other place */
                { "grows (+4.54 KiB/s)", "grows ", 14 },
                { "all fits", "all fits", 8 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                assert_int_equal(text_wrap(cases[i].text, cases[i].width), strlen(cases[i].first));
}

TEST(a_slope_has_its_sign)
{
        static const struct {
                double bytes_per_s;
                const char *text;
        } cases[] = {
                { 2.0 * MIB, "+2.00 MiB/s" }, { -2.0 * MIB, "-2.00 MiB/s" }, { 0, "0 MiB/s" }, { 1, "~0 MiB/s" }
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                char text[SHORT_TEXT];

                (void)rate_in_unit(text, sizeof(text), UNIT_SLOPE, rate_unit(1.0 * MIB), cases[i].bytes_per_s);
                assert_string_equal(text, cases[i].text);
        }
}

/* --------------------------------------------------------------- behaviour */

TEST_WITH(frozen_picture_stands_still, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        press(c, ' ');
        assert_true(shows(c, "FROZEN", "live 100 MiB"));
        press(c, '3'); /* other views of the same moment */
        assert_true(shows(c, "Main.sessions"));
        press(c, '2');
        press(c, ' ');
        assert_true(hides(c, "FROZEN"));
}

TEST_WITH(stale_says_its_age, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        world_set_stale(w->world, 0, true);
        press(c, '2');
        assert_true(shows(c, "STALE 1m 30s")); /* heard at 10 s, now is 100 s */
        assert_true(shows(c, "live 100 MiB")); /* the last picture stays */
        assert_true(shows(c, "heapwatchd gone for 1m 30s; data as of ", "reconnecting"));
        press(c, '1'); /* of all targets, too */
        assert_true(shows(c, "heapwatchd gone for 1m 30s"));
        press(c, '0');
        assert_true(shows_in(c, 20, 60, "reconnecting"));
        world_set_stale(w->world, 0, false);
        assert_true(hides(c, "heapwatchd gone"));
}

/* Of all targets, as `top --once` prints it. */
static char *printed(struct console *c)
{
        static const struct plain_options options = { .view = "targets", .width = 100 };
        char *text = NULL;
        size_t size;
        FILE *to = open_memstream(&text, &size);

        assert_non_null(to);
        assert_int_equal(plain_report(to, c, &options, 1000), 0);
        (void)fclose(to);
        return text;
}

static bool prints(struct console *c, const char *what)
{
        char *text = printed(c);
        const bool found = strstr(text, what) != NULL;

        free(text);
        return found;
}

TEST_WITH(short_of_memory, setup, teardown)
{
        struct world *w = *state;
        Hw__Update u = update_of("", 0, 0);
        Hw__DaemonState daemon = HW__DAEMON_STATE__INIT;

        daemon.memory_pressure = (char *)"38.5 MiB of its 40.0 MiB of memory is in use";
        u.body_case = HW__UPDATE__BODY_DAEMON;
        u.daemon = &daemon;
        press(w->console, '1');
        assert_true(hides(w->console, "short of memory"));
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        assert_true(shows(w->console, "heapwatchd is short of memory: 38.5 MiB of its 40.0 MiB of memory is in use"));
        assert_true(
                prints(w->console, "\n heapwatchd is short of memory: 38.5 MiB of its 40.0 MiB of memory is in use\n"));
        daemon.memory_pressure = NULL;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        assert_true(hides(w->console, "short of memory"));
        assert_false(prints(w->console, "short of memory"));
}

/* The heap profile is not what is missing when the daemon is. */
TEST(no_census_says_why)
{
        struct world *empty = world_new(&console_past);
        struct console *c = console_new(empty, true);

        assert_int_equal(send_state(empty, 0, "api-1", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        press(c, '3');
        assert_true(shows(c, "heap profiles need +RTS -h"));
        world_set_stale(empty, 0, true);
        assert_true(hides(c, "+RTS -h"));
        press(c, '0');
        assert_true(hides(c, "+RTS -h"));
        console_destroy(&c);
        world_destroy(&empty);
}

/* A daemon that was restarted without the target: its last picture stays, and no other target is chosen. */
TEST_WITH(picture_outlives_its_daemon, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        assert_true(shows(c, "live 100 MiB"));
        console_forget(c, 0);
        world_reset(w->world, 0);
        assert_true(shows(c, "live 100 MiB"));
        assert_int_equal(send_state(w->world, 0, "another", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        assert_true(shows(c, "live 100 MiB", "heapwatchd was restarted without api-1; data as of "));
        press(c, '1');
        assert_true(hides(c, "api-1"));
        assert_true(shows(c, "another"));
        press(c, '2');
        fill(w->world, "api-1");
        assert_int_equal(send_live(w->world, 0, "api-1", 1, 20 * SECOND, 300 * MIB), 0);
        assert_true(shows(c, "live 300 MiB"));
        assert_true(hides(c, "restarted without"));
}

TEST_WITH(a_removed_target_is_said_to_be_gone, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        assert_true(shows(c, "live 100 MiB"));
        fill(w->world, "another");
        assert_int_equal(send_state(w->world, 0, "api-1", 1, HW__TARGET__STATE__STATE_REMOVED), 0);
        assert_true(shows(c, "api-1 is not watched now.", "t shows the 1 that is."));
        press(c, '.');
        assert_true(shows(c, "another", "live 100 MiB"));
}

static int send_collections(struct world *v, const char *name)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Gc gc = HW__GC__INIT;
        Hw__Generation young = HW__GENERATION__INIT, old = HW__GENERATION__INIT;
        Hw__Generation *both[] = { &young, &old };

        young.has_generation = young.has_count = 1;
        SET(old, generation, 1);
        SET(old, count, 63);
        SET(old, pause_total_ns, 32 * SECOND / 1000);
        SET(old, pause_p99_ns, SECOND / 1000);
        SET_LIST(gc, generations, both, 2);
        SET(gc, gc_share, 0.25);
        u.body_case = HW__UPDATE__BODY_GC;
        u.gc = &gc;
        return apply_made(v, 0, &u);
}

/* Nothing of an ended run is called new, and its times do not advance; 80x24 shows the collected generation. */
TEST_WITH(what_has_ended_is_shown_as_it_ended, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        assert_int_equal(send_collections(w->world, "api-1"), 0);
        press(c, '0');
        assert_true(shows_in(c, 24, 80, " up ", "last census ", " ago at ", "25.0 % of the last 10 s",
                             "gen 1            63"));
        assert_true(hides_in(c, 24, 80, "gen 0"));
        assert_true(shows_in(c, 40, 46, "Bands", "last census ", " ago at "));
        assert_int_equal(send_state(w->world, 0, "api-1", 1, HW__TARGET__STATE__STATE_CRASHED), 0);
        assert_true(
                shows_in(c, 24, 80, " lasted ", "at its end · max ", "25.0 % of its last 10 s", " before the end at "));
        assert_true(hides_in(c, 24, 80, " old", " up "));
}

TEST_WITH(help_explains, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '3');
        press(c, '?');
        assert_true(shows(c, "in the newest census", "standard deviation over the window"));
        press_times(c, 100, SCREEN_DOWN);
        assert_true(shows(c, "freeze the screen"));
        press(c, '?');
        assert_string_equal(c->shown->class->name, "bands");
        press(c, '?');
        assert_true(shows(c, "? q back"));
        press(c, 'q');
        assert_string_equal(c->shown->class->name, "bands");
        assert_false(c->quit);
        press(c, SCREEN_ESCAPE); /* there is one target: no list to go to */
        assert_string_equal(c->shown->class->name, "bands");
        fill(c->live, "api-2");
        press(c, SCREEN_ESCAPE);
        assert_string_equal(c->shown->class->name, "targets");
        press(c, 'q');
        assert_true(c->quit);
}

/* A view with a letter of another view, or of common_key(), would hide that, or be hidden. */
TEST(each_view_has_a_letter_of_its_own)
{
        char used[64] = "q?cfnNsMCPAW";
        size_t n = strlen(used);

        for (size_t i = 0; console_views[i]; i++) {
                const char letter = (char)console_views[i]->letter;

                if (!letter)
                        continue;
                if (strchr(used, letter))
                        fail_msg("view %s: the letter %c has another meaning; expected none of %s",
                                 console_views[i]->name, letter, used);
                assert_in_range(n, 0, sizeof(used) - 2);
                used[n++] = letter;
        }
}

/* Each number has a help text, and a name that files can use, only once in its view. */
TEST(every_column_is_explained)
{
        char help[1024];

        for (size_t i = 0; console_views[i]; i++) {
                for (size_t k = 0; k < VIEW_TABLES && console_views[i]->tables[k]; k++) {
                        const struct table_class *t = console_views[i]->tables[k];

                        for (size_t n = 0; n < t->n_columns; n++) {
                                const char *name = column_name(&t->columns[n]);

                                assert_non_null(name);
                                assert_true(!t->columns[n].title[0] ||
                                            *column_help(help, sizeof(help), &t->columns[n]));
                                for (size_t m = 0; m < n; m++)
                                        assert_string_not_equal(column_name(&t->columns[m]), name);
                        }
                }
                for (size_t n = 0; n < console_views[i]->n_figures; n++)
                        assert_true(*column_help(help, sizeof(help), &console_views[i]->figures[n]));
        }
}

/* A column that names a fact has its value, name, unit and help. */
TEST(a_column_of_a_fact)
{
        static const struct column column = { .title = "live", .fact = FACT_LIVE };
        struct world_target *t = calloc(1, sizeof(*t));
        Hw__Heap heap = HW__HEAP__INIT;
        char help[1024], text[SHORT_TEXT];

        assert_non_null(t);
        t->heap = &heap;
        assert_int_equal(column_value(&column, NULL, t).is, VALUE_NONE);
        assert_string_equal(facts_text(text, t, FACT_LIVE), UNKNOWN_TEXT);
        SET(heap, live_bytes, 3 << 20);
        assert_int_equal(column_value(&column, NULL, t).is, VALUE_NUMBER);
        assert_true(column_value(&column, NULL, t).number == 3 << 20);
        assert_string_equal(facts_text(text, t, FACT_LIVE), "3.00 MiB");
        assert_string_equal(column_name(&column), "live_bytes");
        assert_int_equal(column_unit(&column), UNIT_BYTES);
        assert_string_equal(column_help(help, sizeof(help), &column),
                            "live data after the last major collection, or reached since then (watched from outside)");
        free(t);
}

TEST_WITH(mouse, setup, teardown)
{
        struct console *c = console_of(state);
        char *row;
        int at;

        free(drawn(c, 40, 140, false));
        row = row_with(c, "3Bands");
        at = (int)(strstr(row, "3Bands") - row);
        free(row);
        console_click(c, 39, at, false);
        assert_string_equal(c->shown->class->name, "bands");
        assert_int_equal(place_of(c, "ARR_WORDS"), 4);
        console_prepare(c, NOW_NS);
        console_click(c, 4, 20, false);
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "ARR_WORDS");
        console_click(c, 4, 20, true);
        assert_string_equal(c->shown->class->name, "band");
        press(c, SCREEN_ESCAPE);
        row = row_with(c, "history");
        at = text_columns(row) - (int)strlen(strstr(row, "band"));
        free(row);
        console_click(c, 2, at, false);
        assert_string_equal(table_sorted_by(c->table)->name, "label");
}

TEST_WITH(small_screens, setup, teardown)
{
        struct console *c = console_of(state);
        static const int sizes[][2] = { { 16, 60 }, { 24, 80 }, { 3, 20 }, { 1, 1 }, { 60, 300 }, { 2, 500 } };

        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
                for (size_t i = 0; console_views[i]; i++) {
                        console_show(c, console_views[i]);
                        free(drawn(c, sizes[s][0], sizes[s][1], false));
                        free(drawn(c, sizes[s][0], sizes[s][1], true));
                }
        }
        console_show(c, &view_bands);
        assert_true(shows_in(c, 16, 60, "Main.sessions", "100 MiB"));
        console_show(c, &view_memory);
        assert_true(shows_in(c, 16, 60, "live 100 MiB", "128 MiB"));
}

TEST_WITH(ascii, setup, teardown)
{
        struct console *c = console_of(state);

        for (size_t i = 0; console_views[i]; i++) {
                console_show(c, console_views[i]);
                char *all = drawn(c, 30, 100, true);

                for (char *p = all; *p; p++)
                        assert_true((*p >= ' ' && *p < 0x7f) || *p == '\n');
                free(all);
        }
}

/* Escape sequences, wide, combining and very long labels, bidi overrides. */
TEST_WITH(hostile_labels, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        char wide[4000] = "";
        uint32_t ids[] = { 1, 2, 3, 4 };
        uint64_t bytes[] = { 4000, 3000, 2000, 1000 };

        for (int i = 0; i < 1000; i++)
                memcpy(wide + strlen(wide), "字", 4);
        assert_int_equal(send_band(w->world, "api-1", 1, 1, "\x1b]0;title\x07\x1b[2J"), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 2, wide), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 3, "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81 joined"), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 4,
                                   "\xe2\x80\xae"
                                   "desrever \n\r\t"),
                         0);
        assert_int_equal(send_census(w->world, "api-1", 1, 11, ids, bytes, 4), 0);
        press(c, '3');
        for (int row = 0; row < 4; row++) {
                char *all = drawn(c, 30, 100, row % 2);

                for (char *p = all; *p; p++)
                        assert_true((unsigned char)*p >= ' ' || *p == '\n');
                assert_null(strstr(all, "\xe2\x80\xae"));
                assert_null(strchr(all, 0x7f));
                free(all);
                press(c, SCREEN_ENTER);
                free(drawn(c, 30, 100, false));
                press(c, SCREEN_ESCAPE);
                press(c, SCREEN_DOWN);
        }
        assert_true(shows(c, "\\x1B]0;title"));
}

TEST_WITH(ten_thousand_bands, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        enum { N = 10000 };
        uint32_t *ids = calloc(N, sizeof(*ids));
        uint64_t *bytes = calloc(N, sizeof(*bytes));

        for (uint32_t i = 0; i < N; i++) {
                ids[i] = i + 1;
                bytes[i] = (i * UINT64_C(7919)) % N + 1;
        }
        assert_int_equal(send_census(w->world, "api-1", 1, 11, ids, bytes, N), 0);
        press(c, '3');
        free(drawn(c, 40, 140, false));
        press(c, SCREEN_END);
        assert_int_equal(c->table->at, N - 1);
        assert_int_equal(((const struct world_band *)table_selected(c->table))->bytes, 1);
        press_times(c, 300, SCREEN_PAGE_UP);
        assert_int_equal(c->table->at, 0);
        assert_int_equal(((const struct world_band *)table_selected(c->table))->bytes, N);
        for (size_t i = 1; i < N; i++)
                assert_true(((const struct world_band *)c->table->rows[i - 1].data)->bytes >
                            ((const struct world_band *)c->table->rows[i].data)->bytes);
        free(ids);
        free(bytes);
}

TEST(nothing_to_show)
{
        struct world *empty = world_new(&console_past);
        struct console *c = console_new(empty, true);

        for (size_t i = 0; console_views[i]; i++) {
                console_show(c, console_views[i]);
                free(drawn(c, 24, 80, false));
                press(c, SCREEN_ENTER);
                press(c, SCREEN_DOWN);
                press(c, ' ');
                press(c, ' ');
        }
        console_show(c, &view_overview);
        assert_true(shows(c, "Waiting for a daemon"));
        console_destroy(&c);
        world_destroy(&empty);
}

TEST(what_was_cut_is_marked_once)
{
        for (int ascii = 0; ascii <= 1; ascii++) {
                struct canvas *canvas = canvas_new(1, 12, ascii);

                assert_non_null(canvas);
                assert_int_equal(canvas_put(canvas, canvas_area(canvas), 0, 0, 5, TINT_PLAIN, "abc… “def”"), 4);
                (void)canvas_put(canvas, canvas_area(canvas), 0, 5, 7, TINT_PLAIN, "“def” g");
                char *text = canvas_row_text(canvas, 0);
                assert_string_equal(text, ascii ? "abc~ \"def\" g" : "abc… “def” g");
                free(text);
                canvas_destroy(&canvas);
        }
}

static int begin_tests(void **state)
{
        (void)setlocale(LC_ALL, "C.UTF-8");
        (void)setenv("TZ", "UTC", 1);
        return 0;
}

TEST_GROUP(begin_tests, NULL)
