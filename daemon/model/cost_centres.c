/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: definitions by id; a repeated one replaces. A stack that uses an undefined centre is shown as cc#N. */
#include <string.h>

#include "daemon/model/limits.h"
#include "proto/base/text_out.h"
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

static void put_centre(struct text_out *o, const struct bands *b, uint32_t id)
{
        const struct cost_centre *centre = find_centre(b, id);

        if (!centre) {
                text_put(o, "cc#");
                text_put_u64(o, id);
                return;
        }
        if (!strcmp(centre->label, "CAF")) { /* every module has one */
                text_put(o, centre->module);
                text_put(o, ".");
        }
        text_put(o, centre->label);
}

const char *cost_centres_text(struct bands *b, const uint32_t *ids, uint32_t depth)
{
        const size_t most = STACK_TEXT_SIZE - sizeof("...");
        char text[STACK_TEXT_SIZE];
        struct text_out o;

        text_out_init(&o, text, sizeof(text));
        if (!depth)
                text_put(&o, "MAIN");
        for (uint32_t i = 0; i < depth; i++) {
                const size_t before = o.used;

                text_put(&o, i ? "/" : "");
                put_centre(&o, b, ids[i]);
                if (o.cut) {
                        text_out_rewind(&o, before < most ? before : most);
                        text_put(&o, "...");
                        break;
                }
        }
        return bands_keep_text(b, text, o.used);
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
