/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "client/diff/cautions.h"
#include "client/diff/print.h"
#include "proto/base/json_out.h"

static const char *const unit_words[] = { "B", "B/s", "ns", "count", "share" };
static const char *const basis_words[] = { "none", "within-run", "student", "rank-sum" };
static const char *const kind_words[ROW_KINDS] = { "band", "ticky", "cost-centre" };

static void number(struct json_out *j, const char *key, double value)
{
        json_key(j, key);
        json_double(j, value); /* null when unknown */
}

static void text(struct json_out *j, const char *key, const char *value)
{
        json_key(j, key);
        json_text(j, value);
}

static void change(struct json_out *j, const struct change *c)
{
        number(j, "new", c->a);
        number(j, "baseline", c->b);
        number(j, "change", c->shift.by);
        number(j, "low", c->shift.low);
        number(j, "high", c->shift.high);
        number(j, "changeShare", change_share(c, c->shift.by));
        if (c->shift.basis != SHIFT_NONE)
                number(j, "level", c->shift.level);
        text(j, "interval", basis_words[c->shift.basis]);
}

static void side(struct json_out *j, const char *key, const struct side *s)
{
        json_key(j, key);
        json_open(j, '[');
        for (size_t i = 0; i < s->n; i++) {
                const struct side_run *run = &s->runs[i];
                json_open(j, '{');
                text(j, "log", run->log);
                json_key(j, "run");
                json_u64(j, run->number);
                text(j, "program", run->program);
                text(j, "ghc", run->ghc);
                text(j, "liveVerdict", hw_enum_word(&hw__verdict__descriptor, (int)run->verdict));
                text(j, "growth", run->growth);
                json_key(j, "values");
                json_open(j, '{');
                for (size_t q = 0; q < n_quantities; q++)
                        if (!isnan(run->values[q]))
                                number(j, quantities[q].name, run->values[q]);
                json_close(j, '}');
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_quantities(struct json_out *j, const struct comparison *c)
{
        json_key(j, "quantities");
        json_open(j, '[');
        for (size_t i = 0; i < n_quantities; i++) {
                if (isnan(c->quantities[i].a) && isnan(c->quantities[i].b))
                        continue;
                json_open(j, '{');
                text(j, "name", quantities[i].name);
                text(j, "title", quantities[i].title);
                text(j, "unit", unit_words[quantities[i].unit]);
                change(j, &c->quantities[i]);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_rows(struct json_out *j, const struct comparison *c)
{
        json_key(j, "rows");
        json_open(j, '[');
        for (size_t i = 0; i < c->n_rows; i++) {
                json_open(j, '{');
                text(j, "kind", kind_words[c->rows[i].kind]);
                text(j, "name", c->rows[i].name);
                json_key(j, "matched");
                json_bool(j, !c->rows[i].unnamed);
                change(j, &c->rows[i].value);
                if (c->rows[i].kind == ROW_BAND) {
                        json_key(j, "peak");
                        json_open(j, '{');
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

        json_key(j, "bounds");
        json_open(j, '[');
        for (size_t i = 0; i < r->bounds.n; i++) {
                const struct bound *b = &r->bounds.items[i];
                struct judgement judged = bound_judge(b, &r->comparison);
                json_open(j, '{');
                text(j, "bound", b->text);
                text(j, "decision", decision_word(judged.decision));
                number(j, "most", judged.most);
                text(j, "sentence", judgement_text(words, sizeof(words), b, &r->comparison));
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_note(void *j, const char *words)
{
        json_text(j, words);
}

void put_json(struct json_out *j, const struct result *r)
{
        json_open(j, '{');
        side(j, "new", r->comparison.a);
        side(j, "baseline", r->comparison.b);
        put_quantities(j, &r->comparison);
        put_rows(j, &r->comparison);
        put_bounds(j, r);
        json_key(j, "notes");
        json_open(j, '[');
        cautions(&r->comparison, put_note, j);
        json_close(j, ']');
        json_close(j, '}');
}

void print_json(FILE *to, const struct result *r)
{
        put_json(&(struct json_out){ .to = to }, r);
        (void)fputc('\n', to);
}
