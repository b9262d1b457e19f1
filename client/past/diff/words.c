/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - what the outputs for people have in common. */
#include <math.h>
#include <string.h>

#include "client/past/diff/print.h"

const char *const row_titles[ROW_KINDS] = {
        [ROW_BAND] = "Bands, mean",
        [ROW_TICKY] = "Allocated by ticky counter",
        [ROW_CENTRE] = "Ticks of cost centre",
};

enum quantity_unit row_unit(enum row_kind kind)
{
        return kind == ROW_CENTRE ? UNIT_COUNT : UNIT_BYTES;
}

size_t result_count(const struct result *r, enum decision d)
{
        size_t n = 0;

        for (size_t i = 0; i < r->bounds.n; i++)
                n += bound_judge(&r->bounds.items[i], &r->comparison).decision == d;
        return n;
}

char *change_text(char *out, size_t size, const struct change *c, enum quantity_unit unit, double by)
{
        double percent = change_share(c, by) * 100;

        if (!isfinite(percent))
                return quantity_text(out, size, unit, by, true);
        (void)snprintf(out, size, fabs(percent) < 9.95 ? "%+.1f %%" : "%+.0f %%", percent);
        return out;
}

char *interval_text(char *out, size_t size, const struct change *c, enum quantity_unit unit)
{
        char low[CELL_MAX], high[CELL_MAX];

        out[0] = '\0';
        if (c->shift.basis != SHIFT_NONE)
                (void)snprintf(out, size, "%s to %s", change_text(low, sizeof(low), c, unit, c->shift.low),
                               change_text(high, sizeof(high), c, unit, c->shift.high));
        return out;
}

const char *change_word(const struct change *c)
{
        if (c->shift.basis == SHIFT_NONE)
                return "";
        return c->shift.low > 0 ? "more" : c->shift.high < 0 ? "less" : "same";
}

static enum shift_basis basis_of(const struct comparison *c)
{
        enum shift_basis basis = SHIFT_NONE;

        for (size_t i = 0; i < n_quantities; i++)
                if (c->quantities[i].shift.basis > basis)
                        basis = c->quantities[i].shift.basis;
        return basis;
}

char *basis_text(char *out, size_t size, const struct comparison *c)
{
        static const char *const texts[] = {
                [SHIFT_NONE] = "",
                [SHIFT_WITHIN] = "Intervals (95 %) are from the noise within each run.",
                [SHIFT_STUDENT] =
                        "Numbers are medians of runs; intervals (95 %) are Student's, from how much runs differ.",
                [SHIFT_RANKS] = "Numbers are medians of runs; intervals (95 %) are from the rank-sum test.",
        };

        (void)snprintf(out, size, "%s", texts[basis_of(c)]);
        return out;
}

char *judgement_text(char *out, size_t size, const struct bound *b, const struct comparison *c)
{
        struct judgement j = bound_judge(b, c);
        char change[CELL_MAX], interval[CELL_MAX * 3];
        const char *word = j.decision == BOUND_UNDECIDED ? "cannot tell" : decision_word(j.decision);

        if (!j.change)
                (void)snprintf(out, size, "%s: %s: neither side has this band", b->text, word);
        else if (!j.change->shift.known)
                (void)snprintf(out, size, "%s: %s: %s it", b->text, word,
                               !isnan(j.change->b)   ? "the new side does not have"
                               : !isnan(j.change->a) ? "the baseline does not have"
                                                     : "neither side has");
        else if (j.change->shift.basis == SHIFT_NONE)
                (void)snprintf(out, size, "%s: %s: %s, and one run of each has no interval for it; give several runs",
                               b->text, word,
                               change_text(change, sizeof(change), j.change, j.unit, j.change->shift.by));
        else
                (void)snprintf(out, size, "%s: %s: %s (%s)", b->text, word,
                               change_text(change, sizeof(change), j.change, j.unit, j.change->shift.by),
                               interval_text(interval, sizeof(interval), j.change, j.unit));
        return out;
}

char *side_text(char *out, size_t size, const struct side *s)
{
        size_t logs = 1;

        for (size_t i = 1; i < s->n; i++)
                logs += strcmp(s->runs[i].log, s->runs[i - 1].log) != 0;
        if (s->n == 1)
                (void)snprintf(out, size, "%s", s->runs[0].log);
        else if (logs == 1)
                (void)snprintf(out, size, "%s, %zu runs", s->runs[0].log, s->n);
        else
                (void)snprintf(out, size, "%s and %zu more log%s, %zu runs", s->runs[0].log, logs - 1,
                               logs == 2 ? "" : "s", s->n);
        return out;
}
