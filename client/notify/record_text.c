/* SPDX-License-Identifier: BSD-3-Clause */
/* record_text.c - the record as JSON; record_file.c shows it. */
#include <inttypes.h>
#include <stdio.h>

#include "client/notify/record_file.h"
#include "proto/base/document.h"
#include "proto/base/json_out.h"

static void put_entry(struct json_out *j, const struct record_entry *entry)
{
        char alert[17];

        (void)snprintf(alert, sizeof(alert), "%016" PRIx64, entry->fingerprint);
        json_line(j);
        json_open(j, '{');
        json_member_text(j, "alert", alert);
        json_member_u64(j, "fired", entry->fired_wall_ns);
        json_member_bool(j, "resolved", entry->resolved_over);
        json_close(j, '}');
}

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
                if (r->items[i].fired_over)
                        put_entry(&j, &r->items[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        return document_close(&document) ? document_detach(&document) : NULL;
}
