/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a stack's label is filled from its innermost end while whole entries
 * fit, always leaving room for the ellipsis. Only the first entry may be cut
 * (at a character): an empty label would be worse.
 */
#include "daemon/publish/sentences.h"
#include "proto/base/array.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/hash.h"
#include "proto/base/strings.h"
#include "proto/base/utf8.h"

#define CUT ";..."

static bool is_text(const char *text)
{
        return text && *text;
}

/* Copies `text` to out[n], cut at a character if it does not fit into `room` bytes. Returns the new length. */
static size_t append_sized(char *out, size_t n, size_t room, const char *text, size_t size)
{
        size_t left = room - n - 1;

        if (size > left)
                size = utf8_cut(text, left);
        memcpy(out + n, text, size);
        out[n + size] = '\0';
        return n + size;
}

static size_t append_text(char *out, size_t n, size_t room, const char *text)
{
        return append_sized(out, n, room, text, strlen(text));
}

static size_t append_interned(char *out, size_t n, size_t room, const char *text)
{
        return append_sized(out, n, room, text, strings_size(text));
}

static size_t append_qualified(char *out, size_t room, const char *module, const char *label)
{
        size_t n = 0;

        if (is_text(module) && module != label) { /* MAIN of module MAIN is just MAIN; equal texts are one */
                n = append_interned(out, n, room, module);
                n = append_sized(out, n, room, ".", 1);
        }
        return append_interned(out, n, room, label);
}

static size_t label_stack(char out[LABEL_MAX], const struct bands *bands, const uint32_t *stack, uint32_t depth)
{
        const size_t room = LABEL_MAX - strlen(CUT);
        size_t n = 0;

        for (uint32_t i = 0; i < depth; i++) {
                char name[LABEL_MAX];
                struct cost_centre cc = bands_cost_centre(bands, stack[i]);
                if (is_text(cc.label))
                        (void)append_qualified(name, LABEL_MAX - strlen(CUT), cc.module, cc.label);
                else
                        (void)snprintf(name, LABEL_MAX, "cc#%u", (unsigned)stack[i]);
                if (i > 0 && strlen(name) + 1 > room - n - 1)
                        return append_text(out, n, LABEL_MAX, CUT);
                if (i > 0)
                        n = append_text(out, n, room, ";");
                n = append_text(out, n, room, name);
        }
        return n;
}

size_t label_band(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band)
{
        const struct info_table *it = band->info_table;

        ret_label[0] = '\0';
        if (band->depth)
                return label_stack(ret_label, bands, band->stack, band->depth);
        if (it && is_text(it->label))
                return append_qualified(ret_label, LABEL_MAX, it->module, it->label);
        if (it && is_text(it->name))
                return append_text(ret_label, 0, LABEL_MAX, it->name);
        return 0;
}

const char *label_of_row(char ret_label[LABEL_MAX], const struct bands *bands, const struct band *band)
{
        if (label_band(ret_label, bands, band) > 0)
                return ret_label;
        return band->stack ? "MAIN" : band->label; /* the empty stack */
}

static bool is_shared(const struct bands *bands, const struct growth *g, uint32_t i, const char *label)
{
        char other[LABEL_MAX];

        for (uint32_t k = 0; k < g->n_bands; k++) {
                const struct band *band = k != i ? bands_get(bands, g->bands[k].band) : NULL;
                const char *text = band ? label_of_row(other, bands, band) : NULL;

                if (text && !strcmp(text, label))
                        return true;
        }
        return false;
}

const char *label_of_growing(char ret_label[LABEL_MAX], const struct bands *bands, const struct growth *g, uint32_t i)
{
        const struct band *band = bands_get(bands, g->bands[i].band);
        const char *label = band ? label_of_row(ret_label, bands, band) : NULL;
        const struct info_table *it = band ? band->info_table : NULL;
        bool type = it && is_text(it->type), place = it && is_text(it->source);

        if (label != ret_label || (!type && !place) || !is_shared(bands, g, i, label))
                return label ? label : "?";
        size_t n = append_text(ret_label, strlen(ret_label), LABEL_MAX, " (");
        n = type ? append_text(ret_label, n, LABEL_MAX, it->type) : n;
        n = type && place ? append_text(ret_label, n, LABEL_MAX, ", ") : n;
        n = place ? append_text(ret_label, n, LABEL_MAX, it->source) : n;
        (void)append_text(ret_label, n, LABEL_MAX, ")");
        return ret_label;
}

static uint64_t hash_stack(const struct bands *bands, const struct band *band)
{
        uint64_t hash = band->depth;

        for (uint32_t i = 0; i < band->depth; i++) {
                struct cost_centre cc = bands_cost_centre(bands, band->stack[i]);
                hash = hash_text(cc.source, hash_text(cc.label, hash_text(cc.module, hash)));
        }
        return hash;
}

size_t label_band_name(char ret_name[LABEL_MAX], const struct bands *bands, const struct band *band)
{
        const struct info_table *it = band->info_table;
        char label[LABEL_MAX];
        size_t n = band->depth ? label_band(label, bands, band) : 0, cut = strlen(CUT);

        ret_name[0] = '\0';
        if (n >= cut && !strcmp(label + n - cut, CUT))
                return (size_t)snprintf(ret_name, LABEL_MAX, "stack-%016" PRIx64, hash_stack(bands, band));
        if (!band->depth && it && is_text(it->label) && is_text(it->name))
                return append_text(ret_name, 0, LABEL_MAX, it->name);
        return 0;
}

const char *label_closure_type(const char *number)
{
        static const char *const names[] = {
                NULL,         "CONSTR",       "CONSTR_1_0", "CONSTR_0_1",   "CONSTR_2_0",     "CONSTR_1_1",
                "CONSTR_0_2", "CONSTR_NOCAF", "FUN",        "FUN_1_0",      "FUN_0_1",        "FUN_2_0",
                "FUN_1_1",    "FUN_0_2",      "FUN_STATIC", "THUNK",        "THUNK_1_0",      "THUNK_0_1",
                "THUNK_2_0",  "THUNK_1_1",    "THUNK_0_2",  "THUNK_STATIC", "THUNK_SELECTOR", "BCO",
                "AP",         "PAP",          "AP_STACK",   "IND",          "IND_STATIC",
        };
        const size_t n = ARRAY_SIZE(names);
        size_t type = 0;

        for (const char *p = number; p && *p; p++) {
                if (*p < '0' || *p > '9' || type >= n)
                        return number;
                type = 10 * type + (size_t)(*p - '0');
        }
        return type > 0 && type < n ? names[type] : number;
}
