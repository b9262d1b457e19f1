/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: definitions by id; a repeated one replaces. A stack that uses an undefined centre is shown as cc#N. */
#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"

#define TEXT_BYTES 512 /* of a stack; longer ones are cut and end with "..." */

static struct cost_centre *find_centre(const struct bands *b, uint32_t id)
{
        uint64_t hash = hash_u64(id, b->seed);
        uint32_t at = idtable_start(&b->centre_by_id, hash), i;

        while ((i = idtable_next(&b->centre_by_id, hash, &at))) {
                struct cost_centre *centre = pool_at(&b->centres, i);
                if (centre->id == id)
                        return centre;
        }
        return NULL;
}

static struct cost_centre *make_centre(struct bands *b, uint32_t id)
{
        struct cost_centre *centre = !b->closed && b->centres.count < LIMIT_COST_CENTRES ? pool_add(&b->centres) : NULL;

        if (!centre)
                return NULL;
        if (idtable_add(&b->centre_by_id, hash_u64(id, b->seed), b->centres.count) < 0) {
                pool_undo(&b->centres);
                return NULL;
        }
        centre->id = id;
        return centre;
}

void cost_centre_define(struct model *m, const struct hw_event *e)
{
        struct bands *b = &m->bands;
        uint32_t id = hw_event_u32(e, 0);
        size_t at = 4;
        const char *label = bands_string(b, e, &at), *module = bands_string(b, e, &at);
        const char *source = bands_string(b, e, &at);
        struct cost_centre *centre = find_centre(b, id);

        if (label && module && source && !centre)
                centre = make_centre(b, id);
        if (!label || !module || !source || !centre) {
                b->centres_left_out++;
                return;
        }
        *centre = (struct cost_centre){
                .id = id,
                .label = label,
                .module = module,
                .source = source,
                .caf = at < e->size && (e->payload[at] & 1),
        };
}

bool cost_centre_stack(const struct hw_event *e, size_t at, uint32_t *ids, uint32_t *ret_depth)
{
        uint32_t depth = e->payload[at++];

        if (depth > (e->size - at) / 4)
                return false;
        for (uint32_t i = 0; i < depth; i++)
                ids[i] = hw_event_u32(e, at + (size_t)i * 4);
        *ret_depth = depth;
        return true;
}

void cost_centres_check(struct bands *b, const uint32_t *ids, uint32_t depth)
{
        for (uint32_t i = 0; i < depth; i++) {
                if (!find_centre(b, ids[i])) {
                        b->undefined_centre = ids[i];
                        b->any_undefined = true;
                }
        }
}

bool cost_centres_lacking(const struct bands *b)
{
        return b->any_undefined && !find_centre(b, b->undefined_centre);
}

struct text {
        char bytes[TEXT_BYTES];
        size_t size;
        bool cut;
};

static void append_text(struct text *t, const char *s)
{
        size_t n = strlen(s);

        if (t->cut || n > sizeof(t->bytes) - t->size) {
                t->cut = true;
                return;
        }
        memcpy(t->bytes + t->size, s, n);
        t->size += n;
}

static void append_number(struct text *t, uint32_t number)
{
        char digits[11];
        unsigned i = sizeof(digits) - 1;

        digits[i] = '\0';
        do {
                digits[--i] = (char)('0' + number % 10);
                number /= 10;
        } while (number);
        append_text(t, digits + i);
}

static void append_centre(struct text *t, const struct bands *b, uint32_t id)
{
        const struct cost_centre *centre = find_centre(b, id);

        if (!centre) {
                append_text(t, "cc#");
                append_number(t, id);
                return;
        }
        if (!strcmp(centre->label, "CAF")) { /* every module has one */
                append_text(t, centre->module);
                append_text(t, ".");
        }
        append_text(t, centre->label);
}

const char *cost_centres_text(struct bands *b, const uint32_t *ids, uint32_t depth)
{
        struct text t = { .size = 0 };

        if (!depth)
                append_text(&t, "MAIN");
        for (uint32_t i = 0; i < depth && !t.cut; i++) {
                if (i)
                        append_text(&t, "/");
                append_centre(&t, b, ids[i]);
        }
        if (t.cut) {
                if (t.size > sizeof(t.bytes) - 3)
                        t.size = sizeof(t.bytes) - 3;
                t.cut = false;
                append_text(&t, "...");
        }
        return bands_keep_text(b, t.bytes, t.size);
}

struct cost_centre bands_cost_centre(const struct bands *b, uint32_t id)
{
        const struct cost_centre *centre = find_centre(b, id);

        return centre ? *centre : (struct cost_centre){ .id = id };
}

uint64_t bands_cost_centres_left_out(const struct bands *b)
{
        return b->centres_left_out;
}
