/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp.c - censuses as the runtime's own .hp text, for hp2ps, hp2pretty and others.
 *
 * DESIGN: a census is written as it comes, the header with the first one. It names
 * the program, which the daemon publishes within the first tenth of a second of
 * event time: earlier censuses are kept in memory until then.
 *
 * As in the runtime's own file, there is an empty sample at 0 and at the end.
 * Unlike there, times are elapsed seconds, because mutator CPU time is not in the
 * log; a cost-centre stack is prefixed with our number, because the runtime's is
 * not in the log; labels are cut not at 25 characters but at LABEL_BYTES, because
 * hp2ps reads them into a buffer of fixed size.
 *
 * A label is one word that does not look like a keyword or a string. No two bands
 * have the same one: if changing a label makes it equal to another, the band's
 * number is appended.
 */
#include "client/out/convert/format.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"
#include "proto/base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/world/state/band_name.h"
#include "proto/base/utf8.h"

#define LABEL_BYTES 1000u
#define EARLY_BYTES (16u << 20)  /* kept while the header waits; beyond that it is written with what is known */
#define LEFT_OUT    "(left-out)" /* bytes of bands beyond the daemon's limit */

struct hp {
        struct conversion run;
        bool headed;
        FILE *early; /* samples before the header; writes to early_text */
        char *early_text;
        size_t early_size;
        const Hw__Run *info; /* the newest, kept by reference; NULL: not published yet */
        Hw__Breakdown breakdown;
        char **labels; /* by band id - 1; NULL: not defined */
        uint32_t n_labels;
        bool any_changed; /* some label was changed, and may equal another */
        uint64_t last_ns; /* of the newest sample; times never go back */
        uint64_t end_ns;  /* newest event time */
        uint64_t samples;
};

/* --------------------------------------------------------------- labels */

/* Whether a label would be read as something else. */
static bool is_keyword(const char *text)
{
        static const char *const words[] = {
                "JOB",          "DATE",       "SAMPLE_UNIT", "VALUE_UNIT", "MARK",
                "BEGIN_SAMPLE", "END_SAMPLE", "X_RANGE",     "Y_RANGE",    "COMMENT",
        };

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (!strcmp(text, words[i]))
                        return true;
        return false;
}

/* Copies `text` as one word. Returns its length. */
static size_t one_word(char *out, size_t size, const char *text)
{
        size_t n = strlen(text), used = 0;
        uint32_t code;

        for (size_t at = 0; at < n;) {
                size_t length = utf8_decode(text + at, n - at, &code);
                bool plain = length && code > ' ' && code != 0xa0 && !utf8_is_control(code);
                if (used + (plain ? length : 1) >= size)
                        break;
                if (plain)
                        memcpy(out + used, text + at, length);
                else
                        out[used] = '_';
                used += plain ? length : 1;
                at += length ? length : 1;
        }
        out[used] = '\0';
        return used;
}

/* Appends formatted text, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void append_format(char *out, const char *format, ...)
{
        size_t used = strlen(out);
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(out + used, LABEL_BYTES + 1 - used, format, ap);
        va_end(ap);
}

/* "(n)inner/.../outer"; the label CAF is followed by its module. */
static void stack_label(char *out, const Hw__Band *band)
{
        append_format(out, "(%" PRIu32 ")", band->id);
        for (size_t i = 0; i < band->n_stack; i++) {
                const Hw__CostCentre *c = band->stack[i];
                append_format(out, "%s", i > 0 ? "/" : "");
                if (!c->label)
                        append_format(out, "cc#%" PRIu32, c->id);
                else if (!strcmp(c->label, "CAF") && c->module)
                        append_format(out, "%s.CAF", c->module);
                else
                        append_format(out, "%s", c->label);
        }
}

static char *make_label(struct hp *h, const Hw__Band *band)
{
        char raw[LABEL_BYTES + 1], word[LABEL_BYTES + 32];
        bool table = h->breakdown == HW__BREAKDOWN__BREAKDOWN_INFO_TABLE || band->info_table;
        size_t used;

        raw[0] = '\0';
        if (band->n_stack)
                stack_label(raw, band);
        else if (table && !h->run.options->names && band->has_key)
                append_format(raw, "0x%" PRIx64, band->key);
        else if (table && h->run.options->names && band_source(band))
                append_format(raw, "%s:%s", band->label ? band->label : "", band_source(band));
        else
                append_format(raw, "%s", band->label ? band->label : "");
        used = one_word(word, LABEL_BYTES, raw);
        if (!used || word[0] == '"' || is_keyword(word)) {
                memmove(word + 1, word, used + 1);
                word[0] = '_';
        }
        h->any_changed |= strcmp(word, raw) != 0 || h->run.options->names;
        for (uint32_t i = 0; h->any_changed && i < h->n_labels; i++)
                if (h->labels[i] && !strcmp(h->labels[i], word)) {
                        (void)snprintf(word + strlen(word), 16, "~%" PRIu32, band->id);
                        break;
                }
        return strdup(word);
}

/* The first definition stays: a band that changed its name would be drawn as two. */
static int define_band(struct hp *h, const Hw__Band *band)
{
        if (!ARRAY_RESERVE_ZEROED(h->labels, h->n_labels, band->id))
                return -ENOMEM;
        char **label = &h->labels[band->id - 1];
        if (!*label)
                *label = make_label(h, band);
        return *label ? 0 : -ENOMEM;
}

/* --------------------------------------------------------------- header */

/* A string token: quotes doubled, no newlines. */
static void put_string(FILE *out, const char *text)
{
        size_t n = strlen(text);
        uint32_t code;

        for (size_t at = 0; at < n;) {
                size_t length = utf8_decode(text + at, n - at, &code);
                if (!length || utf8_is_control(code))
                        (void)fputc('_', out);
                else
                        (void)fwrite(text + at, 1, length, out);
                if (length == 1 && text[at] == '"')
                        (void)fputc('"', out);
                at += length ? length : 1;
        }
}

static void put_header(FILE *out, const Hw__Run *run)
{
        const time_t began = run && run->has_start_wall_ns ? (time_t)(run->start_wall_ns / NS_PER_S) : 0;
        char date[64] = "unknown";
        struct tm tm;

        if (run && run->has_start_wall_ns && localtime_r(&began, &tm)) /* the runtime's format: ctime without seconds */
                (void)strftime(date, sizeof(date), "%a %b %e %H:%M %Y", &tm);
        (void)fputs("JOB \"", out);
        put_string(out, run && run->program ? run->program : "unknown");
        if (run && run->profiled && run->n_rts_options) {
                (void)fputs(" +RTS", out);
                for (size_t i = 0; i < run->n_rts_options; i++) {
                        (void)fputc(' ', out);
                        put_string(out, run->rts_options[i]);
                }
        }
        (void)fprintf(out, "\"\nDATE \"%s\"\nSAMPLE_UNIT \"seconds\"\nVALUE_UNIT \"bytes\"\n", date);
        (void)fputs("BEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n", out);
}

/* Writes the header and what waited for it. */
static int write_head(struct hp *h)
{
        if (h->headed)
                return 0;
        if (fclose(h->early) != 0) {
                h->early = NULL;
                return -ENOMEM;
        }
        h->early = NULL;
        h->headed = true;
        put_header(h->run.out, h->info);
        (void)fwrite(h->early_text, 1, h->early_size, h->run.out);
        free(h->early_text);
        h->early_text = NULL;
        return 0;
}

/* -------------------------------------------------------------- samples */

static void put_mark(FILE *out, const char *mark, uint64_t time_ns)
{
        (void)fprintf(out, "%s %" PRIu64 ".%06u\n", mark, time_ns / NS_PER_S, (unsigned)(time_ns % NS_PER_S / 1000));
}

/* A row of a census, of which there may be millions. */
static void put_row(FILE *out, const char *label, uint64_t bytes)
{
        (void)fputs_unlocked(label, out);
        (void)putc_unlocked('\t', out);
        json_digits(out, bytes);
        (void)putc_unlocked('\n', out);
}

static int put_census(struct hp *h, const Hw__Census *c)
{
        if (c->has_unfinished && c->unfinished)
                return 0;
        int r = h->info && h->info->program ? write_head(h) : 0;
        if (r)
                return r;
        FILE *out = h->headed ? h->run.out : h->early;
        h->last_ns = c->time_ns > h->last_ns ? c->time_ns : h->last_ns;
        h->samples++;
        put_mark(out, "BEGIN_SAMPLE", h->last_ns);
        for (size_t i = 0; i < c->n_band; i++) {
                const char *label = c->band[i] <= h->n_labels ? h->labels[c->band[i] - 1] : NULL;
                if (label)
                        put_row(out, label, c->bytes[i]);
                else
                        (void)fprintf(out, "band#%" PRIu32 "\t%" PRIu64 "\n", c->band[i], c->bytes[i]);
        }
        if (c->bytes_left_out)
                put_row(out, LEFT_OUT, c->bytes_left_out);
        put_mark(out, "END_SAMPLE", h->last_ns);
        return !h->headed && ftell(out) > (long)EARLY_BYTES ? write_head(h) : 0;
}

static void forget_run(struct hp *h)
{
        if (h->info)
                hw_message_unref(&h->info->base);
        h->info = NULL;
}

static int hp_update(void *state, const Hw__Update *u)
{
        const Hw__Run *run = u->body_case == HW__UPDATE__BODY_TARGET_STATE ? u->target_state->run_info : NULL;
        struct hp *h = state;
        int r = 0;

        if (u->event_time_ns > h->end_ns)
                h->end_ns = u->event_time_ns;
        if (run) {
                hw_message_ref(&run->base);
                forget_run(h);
                h->info = run;
                if (run->has_breakdown)
                        h->breakdown = run->breakdown;
                r = run->program && h->samples > 0 ? write_head(h) : 0;
        } else if (u->body_case == HW__UPDATE__BODY_CENSUS)
                r = put_census(h, u->census);
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_BANDS && i < u->bands->n_bands && r == 0; i++)
                r = define_band(h, u->bands->bands[i]);
        return r;
}

/* ----------------------------------------------------------------- life */

static int hp_begin(void *state)
{
        struct hp *h = state;

        h->early = open_memstream(&h->early_text, &h->early_size);
        return h->early ? 0 : -ENOMEM;
}

static void hp_done(void *state)
{
        struct hp *h = state;

        if (h->early)
                (void)fclose(h->early);
        forget_run(h);
        for (uint32_t i = 0; i < h->n_labels; i++)
                free(h->labels[i]);
        free(h->labels);
        free(h->early_text);
}

static int hp_finish(void *state)
{
        struct hp *h = state;

        if (h->samples == 0)
                return -ENODATA;
        int r = write_head(h);
        if (r)
                return r;
        h->last_ns = h->end_ns > h->last_ns ? h->end_ns : h->last_ns;
        put_mark(h->run.out, "BEGIN_SAMPLE", h->last_ns);
        put_mark(h->run.out, "END_SAMPLE", h->last_ns);
        return 0;
}

static const struct update_wish wish = { .kinds = WISH(TARGET) | WISH(BAND) | WISH(CENSUS) | WISH(HEALTH),
                                         .ends_alone = true };

const struct format format_hp = {
        .wish = &wish,
        .name = "hp",
        .size = sizeof(struct hp),
        .begin = hp_begin,
        .update = hp_update,
        .finish = hp_finish,
        .no_data = "has no heap profile; run the program with +RTS -l -hT -i1 (or another -h)",
        .done = hp_done,
};
