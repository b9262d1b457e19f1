/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN. Fields have no fixed offsets once a string has been passed, so a
 * field is found by walking from the payload's start. That is slow and meant
 * for printing. One event needs a word of its own: the first field of
 * NONMOVING_HEAP_CENSUS was one byte, the logarithm, until 9.8.3; both forms
 * give bytes here.
 */
#include <string.h>

#include "proto/eventlog/internal.h"
#include "heapwatch/eventlog.h"

#define CENSUS_OLD_SIZE 13u

struct payload {
        const uint8_t *p;
        size_t left;
};

uint32_t field_bytes(enum hw_field_type type)
{
        switch (type) {
        case HW_FIELD_U8:
                return 1;
        case HW_FIELD_U16:
                return 2;
        case HW_FIELD_U32:
                return 4;
        case HW_FIELD_U64:
                return 8;
        case HW_FIELD_TEXT:
        case HW_FIELD_STRING:
        case HW_FIELD_STRINGS:
        case HW_FIELD_BYTES:
        case HW_FIELD_IDS:
                break;
        }
        return 0;
}

static bool read_number(struct payload *c, size_t bytes, struct hw_field_value *value)
{
        if (bytes > c->left)
                return false;
        for (size_t i = 0; i < bytes; i++)
                value->number = value->number << 8 | c->p[i];
        c->p += bytes;
        c->left -= bytes;
        return true;
}

/* Hands out the next `size` bytes, then passes `skip` more. */
static bool read_bytes(struct payload *c, size_t size, size_t skip, struct hw_field_value *value)
{
        value->bytes = c->p;
        value->size = size;
        c->p += size + skip;
        c->left -= size + skip;
        return true;
}

static bool read_field(struct payload *c, const struct hw_event_info *info, unsigned index,
                       struct hw_field_value *value)
{
        *value = (struct hw_field_value){ .type = info->fields[index].type };
        switch (value->type) {
        case HW_FIELD_U8:
        case HW_FIELD_U16:
        case HW_FIELD_U32:
        case HW_FIELD_U64:
                return read_number(c, field_bytes(value->type), value);
        case HW_FIELD_STRING: {
                /* To the NUL, or to the payload's end; nothing when nothing is left. */
                if (c->left == 0)
                        return false;
                const uint8_t *nul = memchr(c->p, 0, c->left);
                return nul ? read_bytes(c, (size_t)(nul - c->p), 1, value) : read_bytes(c, c->left, 0, value);
        }
        case HW_FIELD_IDS: {
                if (!read_number(c, 1, value))
                        return false;
                if (value->number > c->left / 4)
                        value->number = c->left / 4;
                return read_bytes(c, (size_t)value->number * 4, 0, value);
        }
        case HW_FIELD_TEXT:
        case HW_FIELD_STRINGS:
        case HW_FIELD_BYTES:
                break;
        }
        /* Text goes up to the numbers that follow it, if any. */
        size_t after = 0;
        for (unsigned i = index + 1; i < info->n_fields; i++)
                after += field_bytes(info->fields[i].type);
        if (after > c->left)
                return false;
        size_t size = c->left - after;
        if (value->type == HW_FIELD_TEXT || value->type == HW_FIELD_STRINGS)
                while (size > 0 && c->p[size - 1] == 0)
                        size--;
        return read_bytes(c, size, c->left - after - size, value);
}

/* The first field of the older census: log2 of the bytes. */
static bool read_old_block_bytes(struct payload *c, struct hw_field_value *value)
{
        *value = (struct hw_field_value){ .type = HW_FIELD_U16 };
        if (!read_number(c, 1, value))
                return false;
        value->number = value->number < 64 ? UINT64_C(1) << value->number : 0;
        return true;
}

bool hw_event_field(const struct hw_event *event, unsigned index, struct hw_field_value *ret_value)
{
        const struct hw_event_info *info = hw_event_info(event->id);
        if (!info || index >= info->n_fields)
                return false;
        struct payload c = { event->payload, event->size };
        struct hw_field_value value;
        bool old_census = event->id == HW_NONMOVING_HEAP_CENSUS && event->size == CENSUS_OLD_SIZE;
        for (unsigned i = 0; i <= index; i++) {
                bool there = old_census && i == 0 ? read_old_block_bytes(&c, &value) : read_field(&c, info, i, &value);
                if (!there)
                        return false;
        }
        *ret_value = value;
        return true;
}
