/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the first line of an alert has fixed columns, so that it can be cut
 * and sorted; what people read comes below, indented.
 */
#include "client/answers/alerts/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "proto/wire/message.h"

#define INDENT "          "

static const char *copy_printable(char *out, size_t size, const char *text)
{
        (void)hw_terminal_text(out, size, text ? text : "");
        return out;
}

/* "rule", or "rule of band (where in the source)". */
static void print_name(const Hw__Alert *a)
{
        char rule[256], band[512], source[512];

        (void)printf("%s", copy_printable(rule, sizeof(rule), a->rule));
        if (a->band_label)
                (void)printf(" of %s", copy_printable(band, sizeof(band), a->band_label));
        if (a->band_source)
                (void)printf(" (%s)", copy_printable(source, sizeof(source), a->band_source));
}

/* A moment in the clock of the output; false when it is unknown in that clock. */
static bool show_moment(char out[HW_NUMBER_MAX], struct alert_clock clock, bool has_wall, uint64_t wall_ns, bool has_ns,
                        uint64_t ns)
{
        if (!(clock.wall ? has_wall : has_ns))
                return false;
        if (clock.wall)
                (void)hw_time_text(out, HW_NUMBER_MAX, wall_ns);
        else
                (void)hw_duration_text(out, HW_NUMBER_MAX, (double)ns);
        return true;
}

static void print_length(uint64_t from_ns, uint64_t to_ns)
{
        if (from_ns && to_ns > from_ns)
                (void)printf(", for %s", DURATION_TEXT(to_ns - from_ns));
}

static void print_span(const Hw__Alert *a, struct alert_clock clock)
{
        const char *of_run = clock.wall ? "" : " into its run";
        char text[HW_NUMBER_MAX];
        bool fires = known_fires(a);

        if ((fires || a->has_fired_ns) &&
            show_moment(text, clock, a->has_fired_wall_ns, a->fired_wall_ns, a->has_fired_ns, a->fired_ns)) {
                (void)printf("  fired %s%s", text, of_run);
                if (fires && clock.wall)
                        print_length(a->fired_wall_ns, clock.now_wall_ns);
                else if (!fires && a->has_resolved_ns)
                        print_length(a->fired_ns, a->resolved_ns);
        } else if (!a->has_fired_ns &&
                   show_moment(text, clock, a->has_since_wall_ns, a->since_wall_ns, a->has_since_ns, a->since_ns)) {
                (void)printf("  holds since %s%s", text, of_run);
        }
}

static void print_silence(const Hw__Alert *a)
{
        char why[1024];

        if (!a->has_silenced || !a->silenced)
                return;
        (void)printf(INDENT "silenced");
        if (a->silence && a->silence->has_until_wall_ns)
                (void)printf(" until %s", TIME_TEXT(a->silence->until_wall_ns));
        if (a->silence && a->silence->why)
                (void)printf(": %s", copy_printable(why, sizeof(why), a->silence->why));
        (void)putchar('\n');
}

static void print_actions(const Hw__Alert *a)
{
        char kind[64], detail[1024];

        for (size_t i = 0; i < a->n_actions; i++) {
                const Hw__ActionResult *r = a->actions[i];
                const char *outcome = action_outcome(r);

                (void)printf(INDENT "%s: %s", copy_printable(kind, sizeof(kind), r->kind), outcome);
                if (r->has_attempts && r->attempts > 1)
                        (void)printf(" after %u attempts", r->attempts);
                if (r->detail)
                        (void)printf("%s%s", outcome[0] ? ", " : "", copy_printable(detail, sizeof(detail), r->detail));
                (void)putchar('\n');
        }
}

/* When it began and what the program said then, if the rule tells it. */
static void print_onset(const Hw__Alert *a)
{
        char text[1024];

        for (size_t i = 0; i < a->n_annotations; i++)
                if (a->annotations[i]->name && !strcmp(a->annotations[i]->name, "onset"))
                        (void)printf(INDENT "%s\n", copy_printable(text, sizeof(text), a->annotations[i]->value));
}

void alert_print_text(const struct known_alert *k, struct alert_clock clock)
{
        const Hw__Alert *a = k->alert;
        char severity[32], target[512], text[4096];

        (void)printf("%-8s  %-8s  %-16s  ",
                     copy_printable(severity, sizeof(severity), a->whole_severity ? a->whole_severity : a->severity),
                     known_state_name(a), copy_printable(target, sizeof(target), k->target));
        print_name(a);
        if (a->value_text)
                (void)printf("  %s", copy_printable(text, sizeof(text), a->value_text));
        print_span(a, clock);
        if (a->has_unknown && a->unknown)
                (void)printf("  (no data now)");
        (void)putchar('\n');
        if (a->sentence)
                (void)printf(INDENT "%s\n", copy_printable(text, sizeof(text), a->sentence));
        print_onset(a);
        print_silence(a);
        print_actions(a);
}

enum { PARTS_SHOWN = 5 };

/* The band, or for an alert of the whole target its rule and severity. */
static void print_part(const Hw__Alert *a, struct alert_clock clock)
{
        char name[512], more[512], value[256];

        (void)printf(INDENT "%s  %s", known_state_name(a),
                     copy_printable(name, sizeof(name), a->has_band ? a->band_label : a->rule));
        if (a->has_band ? a->band_source : a->severity)
                (void)printf(" (%s)", copy_printable(more, sizeof(more), a->has_band ? a->band_source : a->severity));
        (void)printf("  %s", copy_printable(value, sizeof(value), a->value_text));
        print_span(a, clock);
        (void)putchar('\n');
}

/* Parts that are over, perhaps in a run before, are none of an alert that is not; of a finished log all are shown. */
static bool shows_part(const struct known_alert *part, const struct known_alert *whole, struct alert_clock clock)
{
        return known_is_part_of(part, whole) &&
               (part->alert->state != HW__ALERT__STATE__STATE_RESOLVED ||
                whole->alert->state == HW__ALERT__STATE__STATE_RESOLVED || (!clock.now_wall_ns && part->fired));
}

void alert_print_parts(const struct known *known, const struct known_alert *whole, struct alert_clock clock)
{
        size_t n = 0;

        for (size_t i = 0; i < known->n; i++)
                if (shows_part(known->alerts[i], whole, clock) && n++ < PARTS_SHOWN)
                        print_part(known->alerts[i]->alert, clock);
        if (n > PARTS_SHOWN)
                (void)printf(INDENT "and %zu more\n", n - PARTS_SHOWN);
}

void alert_print_json(const struct known_alert *k)
{
        struct json_out j = { .to = stdout };

        json_open(&j, '{');
        json_member_text(&j, "target", k->target);
        json_key(&j, "alert");
        json_message(&j, &k->alert->base, false);
        json_close(&j, '}');
        json_newline(&j);
}

static bool show_change(char out[HW_NUMBER_MAX], const Hw__Alert *a, struct alert_clock clock)
{
        if (known_fires(a))
                return show_moment(out, clock, a->has_fired_wall_ns, a->fired_wall_ns, a->has_fired_ns, a->fired_ns);
        if (a->state == HW__ALERT__STATE__STATE_RESOLVED)
                return show_moment(out, clock, a->has_resolved_wall_ns, a->resolved_wall_ns, a->has_resolved_ns,
                                   a->resolved_ns);
        return show_moment(out, clock, a->has_since_wall_ns, a->since_wall_ns, a->has_since_ns, a->since_ns);
}

void alert_print_change(const struct known_alert *k, struct alert_clock clock)
{
        const Hw__Alert *a = k->alert;
        char severity[32], target[512], text[4096], at[HW_NUMBER_MAX] = "-";

        (void)show_change(at, a, clock);
        (void)printf("%-8s  %-8s  %-16s  at %-8s  ", copy_printable(severity, sizeof(severity), a->severity),
                     known_state_name(a), copy_printable(target, sizeof(target), k->target), at);
        print_name(a);
        if (a->value_text)
                (void)printf("  %s", copy_printable(text, sizeof(text), a->value_text));
        if (a->has_silenced && a->silenced)
                (void)printf("  (silenced)");
        if (a->sentence)
                (void)printf(": %s", copy_printable(text, sizeof(text), a->sentence));
        (void)putchar('\n');
}
