/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include "heapwatch/text.h"
#include "proto/base/text_out.h"

#define ALL_PARTS    2000u /* what is left is less than one part in so many: it is all */
#define ROWS_IN_JSON 10u

static bool is_all(uint64_t part, uint64_t whole)
{
        return whole - part <= whole / ALL_PARTS;
}

static const char *share_text(char ret[HW_NUMBER_MAX], uint64_t part, uint64_t whole)
{
        return hw_share_text(ret, HW_NUMBER_MAX, whole ? (double)part / (double)whole : 0);
}

const char *contents_name(const struct heap_band *content, char ret[CONTENTS_TEXT_BYTES])
{
        char name[CONTENTS_TEXT_BYTES / 2], share[HW_NUMBER_MAX];
        const bool is_mixed = !is_all(content->same, content->elements);

        (void)hw_terminal_text(name, sizeof(name), content->name);
        return text_join(ret, CONTENTS_TEXT_BYTES, name, is_mixed ? " (" : "",
                         is_mixed ? share_text(share, content->same, content->elements) : "",
                         is_mixed ? " of its elements)" : "", NULL);
}

const char *contents_most(const struct heap_band *b, char ret[CONTENTS_TEXT_BYTES])
{
        char name[CONTENTS_TEXT_BYTES], share[HW_NUMBER_MAX];

        ret[0] = '\0';
        if (!b->is_container || b->n_contents == 0)
                return ret;
        const struct heap_band *most = &b->contents[0];
        const bool whole = is_all(most->bytes, b->bytes);
        return text_join(ret, CONTENTS_TEXT_BYTES, whole ? "" : share_text(share, most->bytes, b->bytes),
                         whole ? "" : " ", contents_name(most, name), NULL);
}

void contents_json(struct json_out *j, const struct heap_band *b)
{
        uint64_t bytes = b->bytes, closures = b->objects;

        if (b->n_contents == 0)
                return;
        json_member_open(j, "contents", '[');
        for (size_t i = 0; i < b->n_contents && i < ROWS_IN_JSON; i++) {
                const struct heap_band *c = &b->contents[i];
                json_open(j, '{');
                json_member_text(j, "name", c->name);
                json_member_u64(j, "bytes", c->bytes);
                json_member_u64(j, "closures", c->objects);
                json_known_u64(j, "elements", c->elements > 0, c->elements);
                json_known_u64(j, "same_elements", c->elements > 0, c->same);
                json_close(j, '}');
                bytes -= c->bytes;
                closures -= c->objects;
        }
        json_close(j, ']');
        if (b->n_contents > ROWS_IN_JSON) {
                json_member_u64(j, "other_contents", b->n_contents - ROWS_IN_JSON);
                json_member_u64(j, "other_bytes", bytes);
                json_member_u64(j, "other_closures", closures);
        }
}
