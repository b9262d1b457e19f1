/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: definitions by id; a repeated one replaces. A stack that uses an undefined centre is shown as cc#N. */
#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/hash.h"
#include "daemon/model/state.h"

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
        const struct cost_centre centre = {
                .id = id,
                .label = label,
                .module = module,
                .source = source,
                .caf = at < e->size && (e->payload[at] & 1),
        };

        if (!label || !module || !source || id >= FRAME_CENTRES || !cost_centre_set(b, &centre))
                b->centres_left_out++;
}

bool cost_centre_set(struct bands *b, const struct cost_centre *centre)
{
        struct cost_centre *known = find_centre(b, centre->id);

        if (!known && !(known = make_centre(b, centre->id)))
                return false;
        *known = *centre;
        return true;
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

void centre_text_append(struct centre_text *t, const char *s)
{
        size_t n = strlen(s);

        if (t->cut || n > sizeof(t->bytes) - t->size) {
                t->cut = true;
                return;
        }
        memcpy(t->bytes + t->size, s, n);
        t->size += n;
}

void centre_text_append_number(struct centre_text *t, uint64_t number, unsigned base)
{
        char digits[21];
        unsigned i = sizeof(digits) - 1;

        digits[i] = '\0';
        do {
                digits[--i] = "0123456789abcdef"[number % base];
                number /= base;
        } while (number);
        centre_text_append(t, digits + i);
}

static void append_centre(struct centre_text *t, const struct bands *b, uint32_t id)
{
        const struct cost_centre *centre = find_centre(b, id);

        if (!centre) {
                centre_text_append(t, "cc#");
                centre_text_append_number(t, id, 10);
                return;
        }
        if (!strcmp(centre->label, "CAF")) { /* every module has one */
                centre_text_append(t, centre->module);
                centre_text_append(t, ".");
        }
        centre_text_append(t, centre->label);
}

const char *cost_centres_text(struct bands *b, const uint32_t *ids, uint32_t depth)
{
        struct centre_text t = { .size = 0 };

        if (!depth)
                centre_text_append(&t, "MAIN");
        for (uint32_t i = 0; i < depth && !t.cut; i++) {
                if (i)
                        centre_text_append(&t, "/");
                append_centre(&t, b, ids[i]);
        }
        if (t.cut) {
                if (t.size > sizeof(t.bytes) - 3)
                        t.size = sizeof(t.bytes) - 3;
                t.cut = false;
                centre_text_append(&t, "...");
        }
        return bands_keep_text(b, t.bytes, t.size);
}

struct cost_centre bands_cost_centre(const struct bands *b, uint32_t id)
{
        const struct cost_centre *centre = find_centre(b, id);

        return centre ? *centre : (struct cost_centre){ .id = id };
}

bool bands_is_same_frame(const struct bands *b, uint32_t id, uint32_t other)
{
        if (id < FRAME_CENTRES || other < FRAME_CENTRES)
                return false;
        const struct cost_centre *x = find_centre(b, id), *y = find_centre(b, other);
        return x && y && x->label == y->label && x->module == y->module; /* interned */
}

uint64_t bands_cost_centres_left_out(const struct bands *b)
{
        return b->centres_left_out;
}
