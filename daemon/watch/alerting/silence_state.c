/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the whole text is checked before anything is taken from it, so a broken file has no effect.
 *
 *      {"version": 1,
 *       "silences": [{"id": 1, "rule": "leak", "target": "*", "why": "...", "created": ns, "until": ns}]}
 */
#include "daemon/watch/alerting/silence.h"

#include <jansson.h>
#include <string.h>

#include "proto/base/document.h"
#include "proto/base/error.h"
#include "proto/base/json_out.h"

/* ------------------------------------------------------------------- write */

char *silence_state_text(const struct silences *silences)
{
        struct document document;

        document_open(&document);
        if (!document.to)
                return NULL;
        struct json_out j = { .to = document.to };
        json_open(&j, '{');
        json_member_u64(&j, "version", 1);
        json_member_open(&j, "silences", '[');
        for (size_t i = 0; i < silences->n; i++) {
                const struct silence *s = &silences->items[i];
                json_line(&j);
                json_open(&j, '{');
                json_member_u64(&j, "id", s->id);
                json_member_text(&j, "rule", s->rule);
                json_member_text(&j, "target", s->target);
                json_member_text(&j, "why", s->why);
                json_member_u64(&j, "created", s->created_wall_ns);
                json_member_u64(&j, "until", s->until_wall_ns);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        return document_close(&document) ? document_detach(&document) : NULL;
}

/* -------------------------------------------------------------------- read */

static bool refuse(struct error *error, const char *what, size_t i, const char *expected)
{
        return error_set(error, "%s %zu: expected %s", what, i + 1, expected);
}

static bool read_text(const json_t *o, const char *name, char *out, size_t size)
{
        const json_t *text = json_object_get(o, name);

        if (!json_is_string(text) || json_string_length(text) >= size ||
            strlen(json_string_value(text)) != json_string_length(text))
                return false;
        memcpy(out, json_string_value(text), json_string_length(text) + 1);
        return true;
}

static bool read_number(const json_t *o, const char *name, uint64_t *ret)
{
        const json_t *number = json_object_get(o, name);

        if (!json_is_integer(number) || json_integer_value(number) <= 0)
                return false;
        *ret = (uint64_t)json_integer_value(number);
        return true;
}

static bool read_silence(const json_t *o, struct silence *s)
{
        return read_number(o, "id", &s->id) && read_text(o, "rule", s->rule, sizeof(s->rule)) &&
               read_text(o, "target", s->target, sizeof(s->target)) && read_text(o, "why", s->why, sizeof(s->why)) &&
               read_number(o, "created", &s->created_wall_ns) && read_number(o, "until", &s->until_wall_ns);
}

static bool read_all(const json_t *root, uint64_t now, struct silences *all, struct error *error)
{
        if (!json_is_object(root) || json_integer_value(json_object_get(root, "version")) != 1)
                return refuse(error, "version", 0, "1");
        const json_t *list = json_object_get(root, "silences");
        struct error why;
        uint64_t id;

        if (!json_is_array(list) || json_array_size(list) > SILENCES_MAX)
                return refuse(error, "silences", 0, "a list of at most 1000 silences");
        for (size_t i = 0; i < json_array_size(list); i++) {
                struct silence s = { .id = 0 };

                if (!read_silence(json_array_get(list, i), &s))
                        return refuse(error, "silence", i, "id, rule, target, why, created and until");
                if (s.until_wall_ns > now && !silences_add(all, &s, now, &id, &why))
                        return error_set(error, "silence %zu: %s", i + 1, why.text);
        }
        return true;
}

bool silence_state_parse(const char *text, size_t size, uint64_t now_wall_ns, struct silences *silences,
                         struct error *error)
{
        json_error_t where;
        json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
        struct silences fresh;

        if (!root)
                return error_set(error, "line %d, column %d: %s", where.line, where.column, where.text);
        silences_init(&fresh);
        bool good = read_all(root, now_wall_ns, &fresh, error);
        json_decref(root);
        if (!good) {
                silences_done(&fresh);
                return false;
        }
        silences_done(silences);
        *silences = fresh;
        return true;
}
