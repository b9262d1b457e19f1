/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/check_findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "proto/eventlog/advice.h"
#include "proto/base/array.h"

#define FINDINGS_MAX 10000u /* of all logs; can_add() says so in words */

/* `p` as it is; NULL is noted. */
static void *note_allocation(struct findings *f, void *p)
{
        if (!p)
                f->refused = "out of memory";
        return p;
}

static char *copy_text(struct findings *f, const char *text)
{
        return note_allocation(f, strdup(text ? text : ""));
}

/* Whether one more can be added to a list of `n` with or without room for it; why not is noted. */
static bool can_add(struct findings *f, size_t n, bool room)
{
        if (n >= FINDINGS_MAX)
                f->refused = "more than 10,000 alerts";
        else if (!room)
                f->refused = "out of memory";
        return room && n < FINDINGS_MAX;
}

#define DAMAGED           "stream-damaged" /* the built-in rule */
#define SEVERAL_PROCESSES "several-processes"
#define NOT_COMPLETED     "log-not-completed"

static size_t target_index(struct findings *f, const char *name)
{
        for (size_t i = 0; i < f->n_targets; i++)
                if (!strcmp(f->targets[i], name))
                        return i;
        if (!can_add(f, f->n_targets,
                     ARRAY_RESERVE_NEXT(f->targets, f->n_targets) && ARRAY_RESERVE_NEXT(f->unjudged, f->n_targets)))
                return SIZE_MAX;
        f->unjudged[f->n_targets] = (struct unjudged){ .lost_bytes = 0 };
        f->targets[f->n_targets] = copy_text(f, name);
        if (!f->targets[f->n_targets])
                return SIZE_MAX;
        return f->n_targets++;
}

static bool same_text(const char *a, const char *b)
{
        return !strcmp(a ? a : "", b ? b : "");
}

/* One that was over in a later run than it began in belongs to the run that it began in. */
static bool same_run(const struct finding *old, const Hw__Alert *a)
{
        return old->run == a->run || (a->state == HW__ALERT__STATE__STATE_RESOLVED && old->resolved_ns == UINT64_MAX);
}

static struct finding *find_finding(struct findings *f, size_t target, const Hw__Alert *a)
{
        for (size_t i = f->n; i-- > 0;) {
                struct finding *old = &f->items[i];
                if (old->target == target && same_text(old->rule, a->rule) && same_text(old->group, a->group) &&
                    same_text(old->band, a->band_label) && old->band_id == a->band && same_run(old, a) &&
                    old->fired_ns == (a->has_fired_ns ? a->fired_ns : UINT64_MAX))
                        return old;
        }
        return NULL;
}

static struct finding *add_finding(struct findings *f, size_t target, const Hw__Alert *a)
{
        struct finding *item;

        if (!can_add(f, f->n, ARRAY_RESERVE_NEXT(f->items, f->n)))
                return NULL;
        item = &f->items[f->n++];
        *item = (struct finding){ .target = target,
                                  .run = a->run,
                                  .severity = severity_of(a->severity),
                                  .fired_ns = a->has_fired_ns ? a->fired_ns : UINT64_MAX,
                                  .fired_wall_ns = a->has_fired_wall_ns ? a->fired_wall_ns : UINT64_MAX,
                                  .resolved_ns = UINT64_MAX };
        item->rule = copy_text(f, a->rule);
        item->group = copy_text(f, a->group);
        item->band_id = a->band;
        item->band = a->band_label ? copy_text(f, a->band_label) : NULL;
        item->band_source = a->band_source ? copy_text(f, a->band_source) : NULL;
        item->sentence = copy_text(f, a->sentence);
        item->evidence = note_allocation(f, calloc(a->n_annotations + 1, sizeof(*item->evidence)));
        for (size_t i = 0; item->evidence && i < a->n_annotations; i++) {
                const Hw__Label *note = a->annotations[i];
                char *line;
                if (!note->name || !note->value || !strcmp(note->name, "summary"))
                        continue;
                if (asprintf(&line, "%s: %s", note->name, note->value) < 0)
                        f->refused = "out of memory";
                else
                        item->evidence[item->n_evidence++] = line;
        }
        return item;
}

static void add_alert(struct findings *f, size_t target, const Hw__Alert *a)
{
        bool over = a->state == HW__ALERT__STATE__STATE_RESOLVED;
        struct finding *item;

        if (!over && a->state != HW__ALERT__STATE__STATE_FIRING)
                return;
        item = find_finding(f, target, a);
        if (!item)
                item = add_finding(f, target, a);
        if (item)
                item->is_part = a->part_of;
        if (item && over && a->has_resolved_ns)
                item->resolved_ns = a->resolved_ns;
}

void findings_add(struct findings *f, const Hw__Update *update)
{
        size_t target;

        if (!update->target || !*update->target)
                return;
        target = target_index(f, update->target);
        if (target != SIZE_MAX && update->body_case == HW__UPDATE__BODY_HEALTH) {
                struct unjudged *u = &f->unjudged[target];
                u->lost_bytes = update->health->lost_bytes;
                u->places = update->health->resyncs;
                if (update->health->unread && !u->unread)
                        u->unread = copy_text(f, update->health->unread);
                for (size_t i = 0; i < update->health->n_advice; i++)
                        u->of_several |= update->health->advice[i]->code == HW_ADVICE_SEVERAL_PROCESSES;
        }
        if (target != SIZE_MAX && update->body_case == HW__UPDATE__BODY_TARGET_STATE &&
            update->target_state->state == HW__TARGET__STATE__STATE_LOST && !f->unjudged[target].not_completed)
                f->unjudged[target].not_completed = copy_text(f, update->target_state->detail);
        if (target == SIZE_MAX || update->body_case != HW__UPDATE__BODY_ALERTS)
                return;
        for (size_t i = 0; i < update->alerts->n_alerts; i++)
                add_alert(f, target, update->alerts->alerts[i]);
}

static bool is_reported(const struct findings *f, size_t target)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->items[i].target == target && !strcmp(f->items[i].rule, DAMAGED))
                        return true;
        return false;
}

static void add_unjudged(struct findings *f, size_t target, const char *rule, const char *sentence)
{
        if (!can_add(f, f->n, ARRAY_RESERVE_NEXT(f->items, f->n)))
                return;
        f->items[f->n++] = (struct finding){ .target = target,
                                             .severity = SEVERITY_WARNING,
                                             .rule = copy_text(f, rule),
                                             .group = copy_text(f, "heapwatch"),
                                             .sentence = copy_text(f, sentence),
                                             .fired_ns = UINT64_MAX,
                                             .fired_wall_ns = UINT64_MAX,
                                             .resolved_ns = UINT64_MAX };
}

void findings_add_unjudged(struct findings *f)
{
        char sentence[512];

        for (size_t t = 0; t < f->n_targets && !f->refused; t++) {
                const struct unjudged *u = &f->unjudged[t];
                const bool reported = is_reported(f, t);

                if (u->lost_bytes && !reported) {
                        (void)snprintf(sentence, sizeof(sentence), "%s of the log is damaged and was not judged",
                                       BYTES_TEXT(u->lost_bytes));
                        add_unjudged(f, t, DAMAGED, sentence);
                } else if (u->places && !reported) {
                        (void)snprintf(sentence, sizeof(sentence),
                                       "the log is damaged at %s place%s: its events could be read, but some may be "
                                       "missing",
                                       COUNT_TEXT(u->places), u->places == 1 ? "" : "s");
                        add_unjudged(f, t, DAMAGED, sentence);
                }
                if (u->unread) {
                        (void)snprintf(sentence, sizeof(sentence), "not all of the log was read and judged: %s",
                                       u->unread);
                        add_unjudged(f, t, DAMAGED, sentence);
                } else if (u->not_completed && !u->lost_bytes && !u->places) {
                        (void)snprintf(sentence, sizeof(sentence),
                                       "the program did not complete its log, so how it ended is not known: %s",
                                       u->not_completed);
                        add_unjudged(f, t, NOT_COMPLETED, sentence);
                }
                if (u->of_several)
                        add_unjudged(f, t, SEVERAL_PROCESSES, hw_advice_text(HW_ADVICE_SEVERAL_PROCESSES));
        }
}

size_t findings_count(const struct findings *f, size_t target, enum severity least)
{
        size_t n = 0;

        for (size_t i = 0; i < f->n; i++)
                n += f->items[i].target == target && f->items[i].severity >= least;
        return n;
}

size_t findings_parts(const struct findings *f, size_t target)
{
        size_t n = 0;

        for (size_t i = 0; i < f->n; i++)
                n += f->items[i].target == target && f->items[i].is_part;
        return n;
}

char *finding_times(const struct finding *item, char out[FINDING_TIMES_MAX])
{
        size_t n;

        out[0] = '\0';
        if (item->fired_ns != UINT64_MAX) {
                char into[HW_NUMBER_MAX];

                (void)hw_duration_text(into, sizeof(into), (double)item->fired_ns);
                if (item->fired_wall_ns == UINT64_MAX)
                        (void)snprintf(out, FINDING_TIMES_MAX, " at %s into the run", into);
                else
                        (void)snprintf(out, FINDING_TIMES_MAX, " at %s (%s into the run)",
                                       TIME_TEXT(item->fired_wall_ns), into);
        }
        n = strlen(out);
        if (item->fired_ns != UINT64_MAX && item->resolved_ns != UINT64_MAX && item->resolved_ns >= item->fired_ns)
                (void)snprintf(out + n, FINDING_TIMES_MAX - n, ", for %s",
                               DURATION_TEXT(item->resolved_ns - item->fired_ns));
        n = strlen(out);
        if (item->run > 1)
                (void)snprintf(out + n, FINDING_TIMES_MAX - n, ", run %u", item->run);
        return out;
}

void findings_done(struct findings *f)
{
        for (size_t i = 0; i < f->n; i++) {
                struct finding *item = &f->items[i];
                for (size_t k = 0; k < item->n_evidence; k++)
                        free(item->evidence[k]);
                free(item->evidence);
                free(item->rule);
                free(item->group);
                free(item->band);
                free(item->band_source);
                free(item->sentence);
        }
        for (size_t i = 0; i < f->n_targets; i++) {
                free(f->targets[i]);
                free(f->unjudged[i].not_completed);
                free(f->unjudged[i].unread);
        }
        free(f->items);
        free(f->unjudged);
        free(f->targets);
        *f = (struct findings){ .n = 0 };
}
