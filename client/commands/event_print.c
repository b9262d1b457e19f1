/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_print.c - DESIGN: a text line has the time, the capability, the name and the
 * fields as name=value. Text is quoted as in JSON in both forms: nothing that a
 * program wrote can control a terminal or break a line.
 */
#include "client/out/convert/event_types.h"

#include <inttypes.h>
#include <string.h>

#include "proto/base/json_out.h"
#include "proto/base/number_text.h"
#include "proto/base/time.h"

#define BYTES_SHOWN 32u /* of a binary message, in text */

/* Where the next field's values are. */
struct values {
        const uint64_t *numbers;
        const ProtobufCBinaryData *texts;
};

/* ----------------------------------------------------------------- text */

static void print_bytes(FILE *to, const ProtobufCBinaryData *b)
{
        (void)fprintf(to, "%zu:0x", b->len);
        for (size_t i = 0; i < b->len && i < BYTES_SHOWN; i++)
                (void)fprintf(to, "%02x", b->data[i]);
        if (b->len > BYTES_SHOWN)
                (void)fputs("...", to);
}

static void print_list(FILE *to, struct values *v, bool texts)
{
        uint64_t n = *v->numbers++;

        (void)putc('[', to);
        for (uint64_t i = 0; i < n; i++) {
                if (i > 0)
                        (void)putc(',', to);
                if (texts) {
                        json_quote(to, v->texts->data, v->texts->len);
                        v->texts++;
                } else {
                        json_digits(to, *v->numbers++);
                }
        }
        (void)putc(']', to);
}

static void print_value(FILE *to, const Hw__EventField *field, struct values *v)
{
        switch (field->form) {
        case HW__EVENT_FIELD__FORM__FORM_NUMBER:
                json_digits(to, *v->numbers++);
                break;
        case HW__EVENT_FIELD__FORM__FORM_TEXT:
                json_quote(to, v->texts->data, v->texts->len);
                v->texts++;
                break;
        case HW__EVENT_FIELD__FORM__FORM_BYTES:
                print_bytes(to, v->texts++);
                break;
        default:
                print_list(to, v, field->form == HW__EVENT_FIELD__FORM__FORM_TEXTS);
        }
}

void event_print_text(FILE *to, const struct event *e)
{
        struct values v = { e->numbers, e->texts };
        char name[16], cap[12] = "-";

        (void)fprintf(to, "%6" PRIu64 ".%09u", e->time_ns / NS_PER_S, (unsigned)(e->time_ns % NS_PER_S));
        if (e->capability != EVENT_CAP_NONE)
                (void)snprintf(cap, sizeof(cap), "%" PRIu32, e->capability);
        (void)fprintf(to, "  %3s  ", cap);
        const char *known = event_type_name(e->type, name);
        (void)fputs(known, to);
        for (size_t width = strlen(known); width < 24 && (e->fields || !e->type->name); width++)
                (void)putc(' ', to);
        for (uint32_t i = 0; i < e->fields; i++) {
                (void)putc(' ', to);
                (void)fputs(e->type->fields[i]->name ? e->type->fields[i]->name : "?", to);
                (void)putc('=', to);
                print_value(to, e->type->fields[i], &v);
        }
        if (e->type->has_hidden && e->type->hidden)
                (void)fputs(" (the rest is hidden)", to);
        if (!e->type->name)
                (void)fprintf(to, " (unknown to heapwatch, %" PRIu32 " bytes)", e->size_bytes);
        (void)putc('\n', to);
}

/* ----------------------------------------------------------------- JSON */

static void json_value(struct json_out *j, const Hw__EventField *field, struct values *v)
{
        bool texts = field->form == HW__EVENT_FIELD__FORM__FORM_TEXTS;

        switch (field->form) {
        case HW__EVENT_FIELD__FORM__FORM_NUMBER:
                json_u64(j, *v->numbers++);
                return;
        case HW__EVENT_FIELD__FORM__FORM_TEXT:
                json_text_bytes(j, v->texts->data, v->texts->len);
                v->texts++;
                return;
        case HW__EVENT_FIELD__FORM__FORM_BYTES:
                json_base64(j, v->texts->data, v->texts->len);
                v->texts++;
                return;
        default:
                break;
        }
        json_open(j, '[');
        for (uint64_t n = *v->numbers++; n > 0; n--) {
                if (texts) {
                        json_text_bytes(j, v->texts->data, v->texts->len);
                        v->texts++;
                } else {
                        json_u64(j, *v->numbers++);
                }
        }
        json_close(j, ']');
}

static void json_fields(struct json_out *j, const struct event *e)
{
        struct values v = { e->numbers, e->texts };

        json_open(j, '{');
        for (uint32_t i = 0; i < e->fields; i++) {
                const char *key = e->type->fields[i]->name;
                json_key(j, key ? key : "?");
                json_value(j, e->type->fields[i], &v);
        }
        json_close(j, '}');
}

void event_print_fields(FILE *to, const struct event *e)
{
        struct json_out j = { .to = to };

        json_fields(&j, e);
}

void event_print_json(FILE *to, const struct event *e)
{
        struct json_out j = { .to = to };
        char name[16];

        json_open(&j, '{');
        json_member_u64(&j, "run", e->run);
        json_member_u64(&j, "timeNs", e->time_ns);
        json_member_u64(&j, "offset", e->offset);
        if (e->capability != EVENT_CAP_NONE)
                json_member_u64(&j, "capability", e->capability);
        json_member_u64(&j, "id", e->type->id);
        json_member_text(&j, "name", event_type_name(e->type, name));
        json_member_u64(&j, "sizeBytes", e->size_bytes);
        if (e->type->has_hidden && e->type->hidden)
                json_member_bool(&j, "hidden", true);
        if (e->fields) {
                json_key(&j, "fields");
                json_fields(&j, e);
        }
        json_close(&j, '}');
        (void)putc('\n', to);
}

/* --------------------------------------------------------------- counts */

static uint64_t count_events(const struct event_types *t, const bool *wanted, uint32_t id)
{
        return t->defined[id] && (!wanted || wanted[id]) ? t->count[id] : 0;
}

void event_counts_print_text(FILE *to, const struct event_types *t, const bool *wanted)
{
        char name[16];
        uint64_t total = 0;

        (void)fprintf(to, "%5s  %-30s %16s\n", "ID", "EVENT", "COUNT");
        for (uint32_t id = 0; id < t->end; id++) {
                uint64_t n = count_events(t, wanted, id);
                if (n)
                        (void)fprintf(to, "%5" PRIu32 "  %-30s %16s\n", id, event_type_name(t->defined[id], name),
                                      COUNT_TEXT(n));
                total += n;
        }
        (void)fprintf(to, "%5s  %-30s %16s\n", "", "total", COUNT_TEXT(total));
}

void event_counts_print_json(FILE *to, const struct event_types *t, const bool *wanted)
{
        struct json_out j = { .to = to };
        uint64_t total = 0;
        char name[16];

        json_open(&j, '{');
        json_member_open(&j, "types", '[');
        for (uint32_t id = 0; id < t->end; id++) {
                uint64_t n = count_events(t, wanted, id);
                if (!n)
                        continue;
                total += n;
                json_open(&j, '{');
                json_member_u64(&j, "id", id);
                json_member_text(&j, "name", event_type_name(t->defined[id], name));
                json_member_u64(&j, "count", n);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_member_u64(&j, "events", total);
        json_close(&j, '}');
        (void)putc('\n', to);
}
