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
        json_key(j, "alert");
        json_text(j, alert);
        json_key(j, "fired");
        json_u64(j, entry->fired_wall_ns);
        json_key(j, "resolved");
        json_bool(j, entry->resolved_over);
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
        json_key(&j, "version");
        json_u64(&j, 1);
        json_key(&j, "done");
        json_open(&j, '[');
        for (size_t i = 0; i < r->n; i++)
                if (r->items[i].fired_over)
                        put_entry(&j, &r->items[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        return document_close(&document) ? document_take(&document) : NULL;
}
