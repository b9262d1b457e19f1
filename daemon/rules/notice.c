/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a copy is made in two passes over the same fields: the first only
 * adds up what they need, the second writes. Both are one function, so they
 * cannot disagree; a text that does not fit any more (it cannot happen) would
 * be empty, never written past the end.
 *
 *      | struct notice | label pairs | annotation pairs | texts ... |
 */
#include "daemon/rules/notice.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/hash.h"
#include "heapwatch/text.h"

uint64_t notice_fingerprint(const char *group, const char *rule, const char *target, const char *band,
                            const char *band_name)
{
        const char *const texts[] = { group, rule, target, band, band_name };
        uint64_t hash = 0;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                hash = hash_text(texts[i], hash);
        return hash;
}

/* -------------------------------------------------------------------- copy */

struct packer {
        char *at; /* NULL: only add up */
        size_t left, used;
};

/* A bad byte becomes U+FFFD: three bytes for one. */
static size_t room_for(const char *text)
{
        size_t n = strnlen(text, LIMIT_NOTICE_TEXT_BYTES - 1) * 3 + 1;

        return n < LIMIT_NOTICE_TEXT_BYTES ? n : LIMIT_NOTICE_TEXT_BYTES;
}

static const char *pack_text(struct packer *p, const char *text)
{
        if (!text)
                return NULL;
        if (!p->at) {
                p->used += room_for(text);
                return NULL;
        }
        if (p->left < 1)
                return "";
        size_t room = room_for(text) < p->left ? room_for(text) : p->left;
        char *out = p->at;
        size_t n = hw_utf8_clean(out, room, text, strnlen(text, LIMIT_NOTICE_TEXT_BYTES - 1)) + 1;

        p->at += n;
        p->left -= n;
        return out;
}

static void pack_pairs(struct packer *p, struct notice_pair *out, const struct notice_pair *pairs, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const char *name = pack_text(p, pairs[i].name);
                const char *value = pack_text(p, pairs[i].value);

                if (out)
                        out[i] = (struct notice_pair){ name, value };
        }
}

static void pack(struct packer *p, struct notice *out, struct notice_pair *pairs, const struct notice *in)
{
        out->target = pack_text(p, in->target);
        out->rule = pack_text(p, in->rule);
        out->group = pack_text(p, in->group);
        out->band = pack_text(p, in->band);
        out->band_source = pack_text(p, in->band_source);
        out->band_name = pack_text(p, in->band_name);
        out->value_text = pack_text(p, in->value_text);
        out->sentence = pack_text(p, in->sentence);
        pack_pairs(p, pairs, in->labels, out->n_labels);
        pack_pairs(p, pairs ? pairs + out->n_labels : NULL, in->annotations, out->n_annotations);
}

static size_t capped(size_t n)
{
        return n < LIMIT_NOTICE_PAIRS ? n : LIMIT_NOTICE_PAIRS;
}

struct notice *notice_copy(const struct notice *notice)
{
        struct notice head = *notice;
        struct packer measure = { 0 };

        head.n_labels = capped(notice->n_labels);
        head.n_annotations = capped(notice->n_annotations);
        pack(&measure, &head, NULL, notice);

        size_t n_pairs = head.n_labels + head.n_annotations;
        size_t before_texts = sizeof(struct notice) + n_pairs * sizeof(struct notice_pair);
        struct notice *copy = malloc(before_texts + measure.used);

        if (!copy)
                return NULL;
        struct notice_pair *pairs = (struct notice_pair *)(copy + 1);
        struct packer write = { .at = (char *)(pairs + n_pairs), .left = measure.used };

        *copy = head;
        pack(&write, copy, pairs, notice);
        copy->labels = pairs;
        copy->annotations = pairs + head.n_labels;
        return copy;
}

/* ------------------------------------------------------------------- words */

const char *notice_state_name(enum notice_state state)
{
        static const char *const names[] = { "inactive", "pending", "firing", "resolved" };

        return names[state];
}

const char *notice_severity_name(enum notice_severity severity)
{
        static const char *const names[] = { "info", "warning", "critical" };

        return names[severity];
}

static const char *find(const struct notice_pair *pairs, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (!strcmp(pairs[i].name, name))
                        return pairs[i].value;
        return NULL;
}

const char *notice_label(const struct notice *notice, const char *name)
{
        return find(notice->labels, notice->n_labels, name);
}

const char *notice_annotation(const struct notice *notice, const char *name)
{
        return find(notice->annotations, notice->n_annotations, name);
}
