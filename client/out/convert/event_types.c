/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c - DESIGN: every access to a column is checked against its bounds. */
#include "client/out/convert/event_types.h"

#include <inttypes.h>
#include <stdio.h>

static void forget(struct event_types *t, size_t id)
{
        if (t->defined[id])
                hw_message_unref(&t->defined[id]->base);
        t->defined[id] = NULL;
}

void event_types_define(struct event_types *t, const Hw__Events *e)
{
        for (size_t i = 0; i < e->n_types; i++) {
                const Hw__EventType *type = e->types[i];

                hw_message_ref(&type->base);
                forget(t, type->id);
                t->defined[type->id] = type;
                t->end = type->id < t->end ? t->end : type->id + 1;
                if (type->has_count)
                        t->count[type->id] = type->count;
        }
}

void event_types_done(struct event_types *t)
{
        for (size_t i = 0; i < t->end; i++)
                forget(t, i);
}

const char *event_type_name(const Hw__EventType *type, char out[static 16])
{
        if (type->name)
                return type->name;
        (void)snprintf(out, 16, "EVENT_%" PRIu32, type->id);
        return out;
}

/* Skips one field. False when the columns end inside it. */
static bool pass(struct event_cursor *c, Hw__EventField__Form form)
{
        size_t numbers = c->message->n_numbers - c->number, texts = c->message->n_texts - c->text;
        bool list = form == HW__EVENT_FIELD__FORM__FORM_NUMBERS || form == HW__EVENT_FIELD__FORM__FORM_TEXTS;
        uint64_t n;

        switch (form) {
        case HW__EVENT_FIELD__FORM__FORM_TEXT:
        case HW__EVENT_FIELD__FORM__FORM_BYTES:
                c->text++;
                return texts > 0;
        case HW__EVENT_FIELD__FORM__FORM_NUMBER:
        case HW__EVENT_FIELD__FORM__FORM_NUMBERS:
        case HW__EVENT_FIELD__FORM__FORM_TEXTS:
                break;
        default:
                return false;
        }
        if (numbers == 0)
                return false;
        n = list ? c->message->numbers[c->number] : 0;
        c->number++;
        if (form == HW__EVENT_FIELD__FORM__FORM_NUMBERS) {
                c->number += n <= numbers - 1 ? n : 0;
                return n <= numbers - 1;
        }
        c->text += n <= texts ? n : 0;
        return n <= texts;
}

bool event_cursor_next(struct event_cursor *c, struct event *ret_event)
{
        const Hw__Events *m = c->message;

        if (c->broken || c->at == m->n_type)
                return false;
        const Hw__EventType *type = c->types->defined[m->type[c->at]];
        *ret_event = (struct event){
                .type = type,
                .time_ns = m->time_ns[c->at],
                .offset = m->offset[c->at],
                .capability = m->capability[c->at],
                .size_bytes = m->size_bytes[c->at],
                .fields = m->fields[c->at],
                .numbers = c->number < m->n_numbers ? m->numbers + c->number : NULL,
                .texts = c->text < m->n_texts ? m->texts + c->text : NULL,
        };
        c->broken = !type || m->fields[c->at] > type->n_fields;
        for (uint32_t i = 0; !c->broken && i < m->fields[c->at]; i++)
                c->broken = !pass(c, type->fields[i]->form);
        c->at++;
        return !c->broken;
}
