/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/state/band_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

#define SAID_LEAST 0.5    /* of a band: what most of it holds stands for it */
#define ALL_OF_IT  0.9995 /* what is left is none of it */
#define UNNAMED    "(info tables without a name)"
#define LOWER      "abcdefghijklmnopqrstuvwxyz"
#define UPPER      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS     "0123456789"

/* ------------------------------------------------------------------- packages */

struct package_label package_label(const char *label)
{
        size_t n = strspn(label, LOWER UPPER DIGITS "-.");
        bool module = n > 0 && label[n] == ':' && label[n + 1] >= 'A' && label[n + 1] <= 'Z';
        size_t version = n;

        for (size_t i = 1; module && version == n && i + 1 < n; i++)
                if (label[i] == '-' && label[i + 1] >= '0' && label[i + 1] <= '9')
                        version = i;

        /* "Data.Seq.:Foo" is a constructor's name: a package without a version is in lower case */
        if (!module || (version == n && strcspn(label, UPPER) < n))
                return (struct package_label){ .package = 0, .rest = label };
        return (struct package_label){ .package = version, .rest = label + n + 1 };
}

char *fit_label(char *out, size_t size, const char *label, int columns)
{
        if (text_columns(label) > columns)
                label = package_label(label).rest;
        if (text_columns(label) <= columns)
                (void)snprintf(out, size, "%s", label);
        else if (strpbrk(label, " /;"))
                (void)snprintf(out, size, "%.*s…", (int)text_beginning(label, columns - 1), label);
        else
                (void)snprintf(out, size, "…%s", text_end(label, columns - 1));
        return out;
}

/* --------------------------------------------------------------------- names */

static void put_text(struct band_name *n, const char *before, const char *text)
{
        if (!text || !text[0])
                return;
        int more = snprintf(n->text + n->used, sizeof(n->text) - n->used, "%s%s", n->used ? before : "", text);
        n->used += (size_t)more < sizeof(n->text) - n->used ? (size_t)more : sizeof(n->text) - n->used - 1;
}

static void put_n(struct band_name *n, const char *text, size_t size)
{
        char copy[BAND_NAME_MAX];

        if (size >= sizeof(copy))
                size = sizeof(copy) - 1;
        memcpy(copy, text, size);
        copy[size] = '\0';
        put_text(n, "", copy);
}

static void put_centre(struct band_name *n, const Hw__CostCentre *c)
{
        char id[24];

        if (!c->label) {
                (void)snprintf(id, sizeof(id), "cc#%u", c->id);
                put_text(n, "/", id);
                return;
        }
        put_text(n, "/", c->module ? c->module : "?");
        put_text(n, ".", c->label);
}

static void put_label(struct band_name *n, const char *label)
{
        struct package_label is = package_label(label ? label : "");

        if (is.package) {
                put_n(n, label, is.package);
                put_text(n, "", ":");
        }
        put_text(n, "", is.rest);
}

static bool cut_end(const char *symbol, size_t *end, const char *what)
{
        size_t n = strlen(what);
        bool there = *end > n && !memcmp(symbol + *end - n, what, n);

        *end -= there ? n : 0;
        return there;
}

/*
 * The length of a symbol without what is specific to a build: Bin_Work of "Bin_Work_2_con_info", sat of
 * "sat_s37w_info".
 */
static size_t stable_length(const char *symbol)
{
        size_t end = strlen(symbol), at;
        bool constructor = cut_end(symbol, &end, "_con_info");

        if (!constructor && !cut_end(symbol, &end, "_info"))
                return end;
        for (at = end; at > 0 && strchr(LOWER UPPER DIGITS, symbol[at - 1]); at--)
                ;
        if (at > 1 && symbol[at - 1] == '_' && at < end && (constructor || symbol[at] == 's'))
                end = at - 1;
        return end;
}

/* The agent found its name in the program's symbol table (agent/table_names.c). */
static bool is_from_symbol(const Hw__InfoTable *table)
{
        return table->source && !strcmp(table->source, "<symbol table>");
}

/* Label, module and source of the table's closure. A constructor's table, among others, has only its symbol. */
static void put_table(struct band_name *n, const Hw__InfoTable *table)
{
        const char *module = table->module ? table->module : "";
        char label[BAND_NAME_MAX];

        if (is_from_symbol(table) && table->label && table->label[0]) {
                /* as in a profile by closure type: "containers:Data.Map.Internal.Bin" */
                (void)snprintf(label, sizeof(label), "%s%s%s", module, *module ? "." : "", table->label);
                put_label(n, label);
                return;
        }
        if (table->label && table->label[0])
                put_text(n, "", table->label);
        else if (table->name)
                put_n(n, table->name, stable_length(table->name));
        put_text(n, " ", table->module);
        put_text(n, " ",
                 table->source && strcmp(table->source, ":") != 0 && !is_from_symbol(table) ? table->source : NULL);
        put_text(n, " ", table->type);
}

void band_name(struct band_name *ret, const Hw__Band *band)
{
        *ret = (struct band_name){ .used = 0 };
        for (size_t i = 0; i < band->n_stack; i++)
                put_centre(ret, band->stack[i]);
        if (band->n_stack)
                return;
        if (band->info_table)
                put_table(ret, band->info_table);
        else if (band->has_key && (!band->label || !strncmp(band->label, "0x", 2)))
                put_text(ret, "", UNNAMED);
        else
                put_label(ret, band->label);
        if (!ret->used)
                put_text(ret, "", "(no label)");
}

void centre_name(struct band_name *ret, const Hw__CostCentre *centre)
{
        *ret = (struct band_name){ .used = 0 };
        if (centre)
                put_centre(ret, centre);
        else
                put_text(ret, "", "MAIN");
}

/* -------------------------------------------------------------------- places */

static bool is_text(const char *text)
{
        return text && *text;
}

/* GHC writes "<entire-module>" or ":" where it knows none. */
static bool is_place(const char *source)
{
        return is_text(source) && source[0] != '<' && source[0] != ':';
}

const char *band_source(const Hw__Band *band)
{
        if (!band)
                return NULL;
        if (band->info_table && is_place(band->info_table->source))
                return band->info_table->source;
        for (size_t i = 0; i < band->n_stack; i++) /* innermost first */
                if (is_place(band->stack[i]->source))
                        return band->stack[i]->source;
        return NULL;
}

char *band_place(char *out, size_t size, const Hw__Band *band)
{
        const Hw__InfoTable *table = band ? band->info_table : NULL;
        const char *type = table && is_text(table->type) ? table->type : NULL,
                   *module = table                   ? table->module
                             : band && band->n_stack ? band->stack[0]->module
                                                     : NULL,
                   *source = band_source(band);

        if (table && is_from_symbol(table)) { /* which its label has whole */
                (void)snprintf(out, size, "named by its symbol");
                return out;
        }
        module = is_text(module) ? module : NULL;
        (void)snprintf(out, size, "%s%.120s%s%s%.120s%s%.160s", type ? "type " : "", type ? type : "",
                       type && module ? ", " : "", module ? "module " : "", module ? module : "",
                       source && (type || module) ? ", " : "", source ? source : "");
        return out;
}

bool band_name_is_shared(const char *name)
{
        return !strcmp(name, UNNAMED) || !strcmp(name, BAND_NAME_LEFT_OUT);
}

/* ------------------------------------------------------------------ contents */

double band_contents_share(const struct world_band *band)
{
        const Hw__BandContents *of = band->contents;
        const uint64_t whole = of && of->has_of_bytes ? of->of_bytes : band->bytes;

        return of && whole > 0 ? (double)of->bytes / (double)whole : 0;
}

/* "70.3 %"; "~70.3 %" where an earlier census told it; "": all of it, or none is known. */
static char *contents_share_text(char number[HW_NUMBER_MAX], const struct world_band *band)
{
        const double share = band ? band_contents_share(band) : 0;
        char text[HW_NUMBER_MAX - 1] = "";

        if (share > 0 && share < ALL_OF_IT)
                (void)hw_share_text(text, sizeof(text), share);
        (void)snprintf(number, HW_NUMBER_MAX, "%s%s", text[0] && band->contents->has_of_bytes ? "~" : "", text);
        return number;
}

char *band_contents_text(char *out, size_t size, const struct world_band *band)
{
        char number[HW_NUMBER_MAX];

        (void)contents_share_text(number, band);
        return text_join(out, size, number, number[0] ? " " : "",
                         band_contents_share(band) > 0 ? band->contents->name : "", NULL);
}

static bool is_said_by_contents(const struct world_band *b)
{
        return b && band_contents_share(b) >= SAID_LEAST;
}

static bool is_list(const char *label)
{
        return !strcmp(package_label(label).rest, "GHC.Types.:");
}

char *band_said(char *out, size_t size, const struct world_target *t, uint32_t id, const char *label)
{
        const struct world_band *b = world_band_of(t, id);

        return text_join(out, size,
                         is_said_by_contents(b) ? b->contents->name
                         : is_list(label)       ? "list cells"
                                                : package_label(label).rest,
                         NULL);
}

char *band_said_of(char *out, size_t size, const struct world_target *t, uint32_t id, const char *label)
{
        const struct world_band *b = world_band_of(t, id);
        char number[HW_NUMBER_MAX], contents[CONTENTS_TEXT] = "";

        (void)contents_share_text(number, b);
        if (is_said_by_contents(b))
                return text_join(out, size, " (", number, number[0] ? " of " : "", package_label(label).rest, ")",
                                 NULL);
        if (b)
                (void)band_contents_text(contents, sizeof(contents), b);
        const char *rest = is_list(label) ? package_label(label).rest : "";
        const bool any = rest[0] || contents[0];

        return text_join(out, size, any ? " (" : "", rest, rest[0] && contents[0] ? "; " : "", contents, any ? ")" : "",
                         NULL);
}
