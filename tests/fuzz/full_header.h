/* SPDX-License-Identifier: BSD-3-Clause */
/* full_header.h - an eventlog's header that declares every known kind of event, for inputs that are events alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

struct header {
        size_t n;
        uint8_t bytes[16384];
};

static void put(struct header *h, uint64_t value, unsigned width)
{
        while (width-- > 0)
                h->bytes[h->n++] = (uint8_t)(value >> (8 * width));
}

static void put_type(struct header *h, uint16_t id, uint16_t size)
{
        put(h, 0x65746200, 4);
        put(h, id, 2);
        put(h, size, 2);
        put(h, 0, 8);
        put(h, 0x65746500, 4);
}

static bool is_variable(const struct hw_event_info *info)
{
        for (unsigned i = 0; i < info->n_fields; i++)
                if (info->fields[i].type >= HW_FIELD_TEXT)
                        return true;
        return false;
}

/* Sizes are the least that each kind needs. */
static const struct header *full_header(void)
{
        static struct header h;

        if (h.n)
                return &h;
        put(&h, UINT64_C(0x6864726268657462), 8);
        for (uint16_t id = 0; id < 256; id++) {
                const struct hw_event_info *info = hw_event_info(id);
                if (info)
                        put_type(&h, id, is_variable(info) ? 0xffff : info->min_size);
        }
        put(&h, 0x68657465, 4);
        put(&h, 0x68647265, 4);
        put(&h, 0x64617462, 4);
        return &h;
}
