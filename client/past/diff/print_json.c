/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "client/past/diff/print.h"
#include "proto/base/json_out.h"

static const char *const unit_words[] = { "B", "B/s", "ns", "count", "share" };
static const char *const basis_words[] = { "none", "within-run", "student", "rank-sum" };
static const char *const kind_words[ROW_KINDS] = { "band", "ticky", "cost-centre" };

static void change(struct json_out *j, const struct change *c)
{
        json_member_double(j, "new", c->a);
        json_member_double(j, "baseline", c->b);
        json_member_double(j, "change", c->shift.by);
        json_member_double(j, "low", c->shift.low);
        json_member_double(j, "high", c->shift.high);
        json_member_double(j, "changeShare", change_share(c, c->shift.by));
        if (c->shift.basis != SHIFT_NONE)
                json_member_double(j, "level", c->shift.level);
        json_member_text(j, "interval", basis_words[c->shift.basis]);
}

static void side(struct json_out *j, const char *key, const struct side *s)
{
        json_member_open(j, key, '[');
        for (size_t i = 0; i < s->n; i++) {
                const struct side_run *run = &s->runs[i];
                json_open(j, '{');
                json_member_text(j, "log", run->log);
                json_member_u64(j, "run", run->number);
                json_member_text(j, "program", run->program);
                json_member_text(j, "ghc", run->ghc);
                json_member_text(j, "liveVerdict", hw_enum_word(&hw__verdict__descriptor, (int)run->verdict));
                json_member_text(j, "growth", run->growth);
                json_member_open(j, "values", '{');
                for (size_t q = 0; q < n_quantities; q++)
                        if (!isnan(run->values[q]))
                                json_member_double(j, quantities[q].name, run->values[q]);
                json_close(j, '}');
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* In the words of the table: baseline, new, change, interval. */
static void put_words(struct json_out *j, const struct change *c, enum quantity_unit unit)
{
        char text[CELL_MAX * 3];

        json_member_open(j, "text", '[');
        json_text(j, quantity_text(text, sizeof(text), unit, c->b, false));
        json_text(j, quantity_text(text, sizeof(text), unit, c->a, false));
        json_text(j, c->shift.known ? change_text(text, sizeof(text), c, unit, c->shift.by) : "?");
        json_text(j, interval_text(text, sizeof(text), c, unit));
        json_close(j, ']');
}

static void put_quantities(struct json_out *j, const struct comparison *c)
{
        json_member_open(j, "quantities", '[');
        for (size_t i = 0; i < n_quantities; i++) {
                if (isnan(c->quantities[i].a) && isnan(c->quantities[i].b))
                        continue;
                json_open(j, '{');
                json_member_text(j, "name", quantities[i].name);
                json_member_text(j, "title", quantities[i].title);
                json_member_text(j, "unit", unit_words[quantities[i].unit]);
                change(j, &c->quantities[i]);
                put_words(j, &c->quantities[i], quantities[i].unit);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_rows(struct json_out *j, const struct comparison *c)
{
        json_member_open(j, "rows", '[');
        for (size_t i = 0; i < c->n_rows; i++) {
                json_open(j, '{');
                json_member_text(j, "kind", kind_words[c->rows[i].kind]);
                json_member_text(j, "name", c->rows[i].name);
                json_member_bool(j, "matched", !c->rows[i].unnamed);
                change(j, &c->rows[i].value);
                if (c->rows[i].kind == ROW_BAND) {
                        json_member_open(j, "peak", '{');
                        change(j, &c->rows[i].peak);
                        json_close(j, '}');
                }
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_bounds(struct json_out *j, const struct result *r)
{
        char words[1024];

        json_member_open(j, "bounds", '[');
        for (size_t i = 0; i < r->bounds.n; i++) {
                const struct bound *b = &r->bounds.items[i];
                struct judgement judged = bound_judge(b, &r->comparison);
                json_open(j, '{');
                json_member_text(j, "bound", b->text);
                json_member_text(j, "decision", decision_word(judged.decision));
                json_member_double(j, "most", judged.most);
                json_member_text(j, "sentence", judgement_text(words, sizeof(words), b, &r->comparison));
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_note(void *j, const char *words)
{
        json_text(j, words);
}

static void put_json(struct json_out *j, const struct result *r)
{
        json_open(j, '{');
        side(j, "new", r->comparison.a);
        side(j, "baseline", r->comparison.b);
        put_quantities(j, &r->comparison);
        put_rows(j, &r->comparison);
        put_bounds(j, r);
        json_member_open(j, "notes", '[');
        list_cautions(&r->comparison, put_note, j);
        json_close(j, ']');
        json_close(j, '}');
}

bool compare_json(struct json_out *j, const struct side *baseline, const struct side *new_side)
{
        struct result result = { .shown = 0 };
        bool good = compare_sides(new_side, baseline, &result.comparison) == 0;

        if (good)
                put_json(j, &result);
        comparison_done(&result.comparison);
        return good;
}

void print_json(FILE *to, const struct result *r)
{
        put_json(&(struct json_out){ .to = to }, r);
        (void)fputc('\n', to);
}
