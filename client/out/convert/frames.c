/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a cost centre's place is a span as GHC prints it: "Main.hs:12:5-20" or "Main.hs:(12,5)-(14,9)"; we
 * use its beginning. Anything else ("<no location info>") is not a place.
 */
#include "client/out/convert/frames.h"
#include "proto/base/array.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "proto/base/hash.h"

#define NAME_BYTES 1024u

void frames_done(struct frames *f)
{
        for (uint32_t i = 0; i < f->n; i++) {
                free(f->frames[i].name);
                free(f->frames[i].file);
        }
        free(f->frames);
        idtable_done(&f->ids);
        *f = (struct frames){ .n = 0 };
}

/* ------------------------------------------------------------------ places */

/* Reads and skips digits at *text. 0 when there are none or too many. */
static uint32_t read_number(const char **text)
{
        uint64_t n = 0;

        while (**text >= '0' && **text <= '9' && n < UINT32_MAX)
                n = n * 10 + (uint64_t)(*(*text)++ - '0');
        return n < UINT32_MAX ? (uint32_t)n : 0;
}

/* Where a span begins. Returns the length of the file's name, 0: not a place. */
static size_t parse_place(const char *source, uint32_t *ret_line, uint32_t *ret_column)
{
        const char *colon = source;

        while ((colon = strchr(colon, ':')) && !(colon[1] >= '0' && colon[1] <= '9') && colon[1] != '(')
                colon++;
        if (!colon || colon == source)
                return 0;
        const char *at = colon + 1 + (colon[1] == '(');
        *ret_line = read_number(&at);
        bool separated = *at == ':' || *at == ',';
        at += separated;
        *ret_column = separated ? read_number(&at) : 0;
        return *ret_line ? (size_t)(colon - source) : 0;
}

/* ------------------------------------------------------------------ frames */

static bool same(const struct code_place *a, const struct code_place *b)
{
        return a->line == b->line && a->column == b->column && !strcmp(a->name, b->name) && !a->file == !b->file &&
               (!a->file || !strcmp(a->file, b->file));
}

static uint32_t intern(struct frames *f, const char *name, const char *source)
{
        struct code_place new = { .name = strdup(name) };
        size_t length = source ? parse_place(source, &new.line, &new.column) : 0;
        bool whole = new.name != NULL;

        if (length > 0) {
                new.file = strndup(source, length);
                whole &= new.file != NULL;
        } else {
                new.line = new.column = 0;
        }
        uint64_t hash = whole ? hash_text(name, hash_text(new.file ? new.file : "", new.line)) : 0;
        uint32_t at = idtable_start(&f->ids, hash), id = 0;
        while (whole && (id = idtable_next(&f->ids, hash, &at)) && !same(&f->frames[id - 1], &new))
                ;
        if (!id && whole && ARRAY_RESERVE(f->frames, f->capacity, f->n + 1) &&
            idtable_add(&f->ids, hash, f->n + 1) == 0) {
                f->frames[f->n++] = new;
                return f->n;
        }
        free(new.name);
        free(new.file);
        return id;
}

char *frame_name(char *out, size_t size, uint32_t id, const char *label, const char *module)
{
        if (!label)
                (void)snprintf(out, size, "cc#%u", id);
        else
                (void)snprintf(out, size, "%s%s%s", module ? module : "", module && module[0] ? "." : "", label);
        return out;
}

uint32_t frames_of_centre(struct frames *f, uint32_t id, const char *label, const char *module, const char *source)
{
        char name[NAME_BYTES];

        return intern(f, frame_name(name, sizeof(name), id, label, module), source);
}

size_t frames_of_stack(struct frames *f, Hw__CostCentre *const *centres, size_t n, uint32_t *numbers, size_t max)
{
        if (n == 0) {
                numbers[0] = intern(f, "MAIN", NULL);
                return numbers[0] ? 1 : 0;
        }
        n = n < max ? n : max;
        for (size_t i = 0; i < n; i++) {
                const Hw__CostCentre *c = centres[i];
                numbers[i] = frames_of_centre(f, c->id, c->label, c->module, c->source);
                if (!numbers[i])
                        return 0;
        }
        return n;
}

size_t frames_of_band(struct frames *f, const Hw__Band *band, uint32_t *numbers, size_t max)
{
        if (band->n_stack)
                return frames_of_stack(f, band->stack, band->n_stack, numbers, max);
        numbers[0] = intern(f, band->label && band->label[0] ? band->label : "?", band_source(band));
        return numbers[0] ? 1 : 0;
}
