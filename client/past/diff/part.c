/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/side.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/error.h"

#define NOTE "note:"

static bool parse_share(const char *text, double *ret)
{
        char *end;
        double percent = strtod(text, &end);

        if (end == text || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
                return false;
        *ret = percent / 100;
        return true;
}

static bool parse_edge(struct part_edge *e, const char *text, size_t n, struct error *error)
{
        char *word = strndup(text, n);
        bool good = true;

        if (!word)
                return error_set(error, "out of memory");
        *e = (struct part_edge){ .kind = EDGE_OPEN };
        if (!strncmp(word, NOTE, strlen(NOTE)) && word[strlen(NOTE)]) {
                e->kind = EDGE_NOTE;
                e->note = strdup(word + strlen(NOTE));
                good = e->note || error_set(error, "out of memory");
        } else if (hw_parse_duration(word, &e->ns)) {
                e->kind = EDGE_TIME;
        } else if (parse_share(word, &e->share)) {
                e->kind = EDGE_SHARE;
        } else if (n > 0) {
                good = error_set(error,
                                 "'%s' is not a place in a run; expected a time such as 90s, a share such as 25%%, "
                                 "or note:TEXT",
                                 word);
        }
        free(word);
        return good;
}

bool part_parse(struct part *s, const char *text, struct error *error)
{
        const char *dots = strstr(text, "..");

        part_done(s);
        if (!dots)
                return error_set(error, "'%s' is not a part of a run; expected FROM..TO, such as 10m..20m or 50%%..",
                                 text);
        if (!parse_edge(&s->from, text, (size_t)(dots - text), error) ||
            !parse_edge(&s->to, dots + 2, strlen(dots + 2), error))
                return false;
        if (s->from.kind == EDGE_TIME && s->to.kind == EDGE_TIME && s->from.ns >= s->to.ns)
                return error_set(error, "the part %s is empty", text);
        s->text = strdup(text);
        return s->text || error_set(error, "out of memory");
}

void part_done(struct part *s)
{
        free(s->from.note);
        free(s->to.note);
        free(s->text);
        *s = (struct part){ .text = NULL };
}

bool part_needs_run(const struct part *s)
{
        return s->from.kind >= EDGE_SHARE || s->to.kind >= EDGE_SHARE;
}

static uint64_t edge_time(const struct part_edge *e, const struct extent *run, uint64_t open_ns, uint64_t note_ns)
{
        switch (e->kind) {
        case EDGE_TIME:
                return e->ns;
        case EDGE_SHARE:
                return run->first_ns + u64_sat(e->share * (double)(run->last_ns - run->first_ns));
        case EDGE_NOTE:
                return note_ns;
        default:
                return open_ns;
        }
}

bool part_resolve(const struct part *s, const struct extent *run, uint64_t *ret_from_ns, uint64_t *ret_to_ns,
                  struct error *error)
{
        if (s->from.kind == EDGE_NOTE && !run->has_from)
                return error_set(error, "no note contains '%s'", s->from.note);
        if (s->to.kind == EDGE_NOTE && !run->has_to)
                return error_set(error, "no note%s contains '%s'",
                                 s->from.kind == EDGE_OPEN ? "" : " after the part's start", s->to.note);
        *ret_from_ns = edge_time(&s->from, run, 0, run->from_ns);
        *ret_to_ns = edge_time(&s->to, run, UINT64_MAX, run->to_ns);
        if (*ret_from_ns >= *ret_to_ns)
                return error_set(error, "the part %s is empty", s->text);
        return true;
}
