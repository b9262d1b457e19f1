/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the whole text is checked before anything is taken from it, so a broken file has no
 * effect. Other members of the object are ignored.
 *
 *      {"version": 1, "done": [{"alert": "0123456789abcdef", "fired": ns, "resolved": false}]}
 */
#include "client/out/notify/record.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/report.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"
#include "proto/base/whole_file.h"
#include "proto/base/error.h"

/* --------------------------------------------------------------------- write */

char *record_text(const struct record *r)
{
        struct document document;

        document_open(&document);
        if (!document.to)
                return NULL;
        struct json_out j = { .to = document.to };
        json_open(&j, '{');
        json_member_u64(&j, "version", 1);
        json_member_open(&j, "done", '[');
        for (size_t i = 0; i < r->n; i++)
                if (r->items[i].fired_over) {
                        const struct record_entry *entry = &r->items[i];
                        char alert[17];

                        (void)snprintf(alert, sizeof(alert), "%016" PRIx64, entry->fingerprint);
                        json_line(&j);
                        json_open(&j, '{');
                        json_member_text(&j, "alert", alert);
                        json_member_u64(&j, "fired", entry->fired_wall_ns);
                        json_member_bool(&j, "resolved", entry->resolved_over);
                        json_close(&j, '}');
                }
        json_close(&j, ']');
        json_close(&j, '}');
        return document_close(&document) ? document_detach(&document) : NULL;
}

int record_write(const struct record *r, const char *path)
{
        char *text = record_text(r);
        int err = text ? whole_file_write(path, text, strlen(text)) : -ENOMEM;

        free(text);
        return err;
}

/* ---------------------------------------------------------------------- read */

static bool read_entry(const json_t *o, struct record_entry *e)
{
        const json_t *alert = json_object_get(o, "alert"), *fired = json_object_get(o, "fired"),
                     *resolved = json_object_get(o, "resolved");
        const char *digits = json_string_value(alert);

        if (!digits || json_string_length(alert) != 16 || strspn(digits, "0123456789abcdef") != 16 ||
            !json_is_boolean(resolved) || !json_is_integer(fired) || json_integer_value(fired) <= 0)
                return false;
        *e = (struct record_entry){ .fingerprint = strtoull(digits, NULL, 16),
                                    .fired_wall_ns = (uint64_t)json_integer_value(fired),
                                    .fired_over = true,
                                    .resolved = json_is_true(resolved),
                                    .resolved_over = json_is_true(resolved) };
        return true;
}

static bool check_record(const json_t *root, struct error *error)
{
        const json_t *list = json_object_get(root, "done");
        struct record_entry e;

        if (!json_is_object(root) || json_integer_value(json_object_get(root, "version")) != 1)
                return error_set(error, "version: expected 1");
        if (!json_is_array(list) || json_array_size(list) > RECORD_MAX)
                return error_set(error, "done: expected a list of at most 4096 alerts");
        for (size_t i = 0; i < json_array_size(list); i++) {
                if (read_entry(json_array_get(list, i), &e))
                        continue;
                return error_set(error, "done %zu: expected alert (16 hexadecimal digits), fired and resolved", i + 1);
        }
        return true;
}

bool record_parse(struct record *r, const char *text, size_t size, struct error *error)
{
        json_error_t where;
        json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
        struct record_entry e;

        if (!root)
                return error_set(error, "line %d, column %d: %s", where.line, where.column, where.text);
        bool good = check_record(root, error);
        const json_t *list = json_object_get(root, "done");
        for (size_t i = 0; good && i < json_array_size(list); i++)
                if (read_entry(json_array_get(list, i), &e))
                        record_add(r, &e);
        json_decref(root);
        return good;
}

static bool parse_record(void *ctx, const char *text, size_t size, struct error *error)
{
        return record_parse(ctx, text, size, error);
}

void record_read(struct record *r, const char *path)
{
        struct error error;

        if (!whole_file_restore(path, RECORD_FILE_BYTES_MAX, parse_record, r, &error))
                report_error("record %s: firing alerts are acted on again", error.text);
}
