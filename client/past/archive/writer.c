/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/observe.h"

#include <stdlib.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "proto/base/clock.h"
#include "proto/base/labels.h"
#include "proto/base/sketch.h"
#include "proto/base/time.h"

#define WORD_BYTES 64u /* of an enumerator */
#define LATE_S     60u /* what is written this long after it happened is from a finished log */

/* --------------------------------------------------------------------- values */

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
        (void)(text && *text ? sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC) : sqlite3_bind_null(s, at));
}

static void bind_if(sqlite3_stmt *s, int at, int known, uint64_t value)
{
        (void)(known ? sqlite3_bind_int64(s, at, (int64_t)value) : sqlite3_bind_null(s, at));
}

static void bind_number(sqlite3_stmt *s, int at, uint64_t value)
{
        (void)sqlite3_bind_int64(s, at, (int64_t)value);
}

static void bind_real_if(sqlite3_stmt *s, int at, int known, double value)
{
        (void)(known ? sqlite3_bind_double(s, at, value) : sqlite3_bind_null(s, at));
}

/* "leak" for VERDICT_LEAK, in `out`; NULL if unknown. */
static const char *word_of(const ProtobufCEnumDescriptor *kind, int value, char out[static WORD_BYTES])
{
        const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(kind, value);
        const char *name = v ? strchr(v->name, '_') : NULL;
        size_t n = 0;

        if (!name || value == 0)
                return NULL;
        for (name++; *name && n + 1 < WORD_BYTES; name++)
                out[n++] = (char)(*name >= 'A' && *name <= 'Z' ? *name + ('a' - 'A') : *name);
        out[n] = '\0';
        return out;
}

static void bind_word(sqlite3_stmt *s, int at, const ProtobufCEnumDescriptor *kind, int value)
{
        char word[WORD_BYTES];

        if (word_of(kind, value, word))
                (void)sqlite3_bind_text(s, at, word, -1, SQLITE_TRANSIENT);
}

/* ---------------------------------------------------------------------- the run */

/* A run set aside, NAME~1, is one of NAME. */
static void bind_name(sqlite3_stmt *s, const struct observed *o)
{
        const char *name = o->name ? o->name : o->target;

        (void)sqlite3_bind_text(s, 1, name, o->name ? -1 : (int)strcspn(name, "~"), SQLITE_STATIC);
}

void writer_find(const struct writer *w, struct observed *o)
{
        sqlite3_stmt *s = database_statement(w->database, FIND_RUN);
        const Hw__Run *info = o->state ? o->state->run_info : NULL;

        if (!s)
                return;
        bind_name(s, o);
        (void)sqlite3_bind_text(s, 2, o->host, -1, SQLITE_STATIC);
        bind_number(s, 3, o->start_ns);
        bind_if(s, 4, info && info->has_pid, info ? info->pid : 0);
        if (sqlite3_step(s) == SQLITE_ROW) {
                uint64_t sampled = row_number(s, 2);
                o->id = (int64_t)row_number(s, 0);
                o->start_ns = row_number(s, 1);
                o->until_ns = sampled > o->start_ns ? sampled - o->start_ns : 0;
                o->written = true;
                o->whole = false;
        }
        (void)sqlite3_reset(s);
}

/* After a statement that has failed nothing is done until the next transaction. */
static void run_statement(const struct writer *w, sqlite3_stmt *s)
{
        if (w->database->result == SQLITE_OK)
                w->database->result = database_run(s);
}

static void add_run(const struct writer *w, struct observed *o)
{
        sqlite3_stmt *s = database_statement(w->database, ADD_RUN);
        uint64_t now = clock_wall_ns(), last = observed_wall(o, o->last_ns);

        bind_name(s, o);
        (void)sqlite3_bind_text(s, 2, o->host, -1, SQLITE_STATIC);
        bind_number(s, 3, o->start_ns);
        bind_number(s, 4, now > last + LATE_S * NS_PER_S ? (now - last) / NS_PER_S : 0);
        run_statement(w, s);
        if (w->database->result == SQLITE_OK)
                o->id = sqlite3_last_insert_rowid(w->database->db);
}

/* One whose first parameter is the run. NULL, which the others of sqlite3 refuse: as database_statement(). */
static sqlite3_stmt *statement_of(const struct writer *w, const struct observed *o, enum statement which)
{
        sqlite3_stmt *s = database_statement(w->database, which);

        bind_number(s, 1, (uint64_t)o->id);
        return s;
}

/* Those of the target, then the archiver's own: of one name, the last is kept. */
static void add_labels(const struct writer *w, const struct observed *o)
{
        const Hw__Target *t = o->state;
        char text[LABELS_SIZE];
        bool good = t && labels_join((const char *const *)t->labels, t->n_labels, text, NULL);

        for (size_t i = 0; good && i < t->n_labels; i++)
                run_statement(w, database_label_statement(w->database, o->id, t->labels[i]));
        for (size_t i = 0; w->labels && i < w->labels->n; i++)
                run_statement(w, database_label_statement(w->database, o->id, w->labels->items[i]));
}

static void bind_identity(sqlite3_stmt *s, const Hw__Run *info, char **options)
{
        bind_text(s, 3, info->program);
        bind_text(s, 5, info->ghc_version);
        bind_text(s, 6, info->rts_way);
        bind_if(s, 7, info->has_pid, info->pid);
        bind_word(s, 16, &hw__breakdown__descriptor, (int)info->breakdown);
        bind_if(s, 17, info->has_census_period_ns, info->census_period_ns);
        bind_if(s, 18, info->has_max_heap_bytes, info->max_heap_bytes);
        for (size_t i = 0; i < info->n_rts_options; i++) {
                char *more = sqlite3_mprintf("%s%s%s", *options ? *options : "", i ? " " : "", info->rts_options[i]);
                sqlite3_free(*options);
                *options = more;
        }
        bind_text(s, 19, *options);
}

static void bind_judgement(sqlite3_stmt *s, const struct observed *o)
{
        const Hw__TimeToLimit *limit = o->trends ? o->trends->time_to_limit : NULL;

        if (o->live) {
                bind_word(s, 20, &hw__verdict__descriptor, (int)o->live->verdict);
                bind_real_if(s, 21, o->live->has_slope, o->live->slope);
                bind_real_if(s, 22, o->live->has_slope_low, o->live->slope_low);
                bind_real_if(s, 23, o->live->has_slope_high, o->live->slope_high);
        }
        if (limit) {
                bind_if(s, 24, limit->has_limit_bytes, limit->limit_bytes);
                bind_if(s, 25, limit->has_low_ns, limit->low_ns);
                bind_if(s, 26, limit->has_mid_ns, limit->mid_ns);
                bind_if(s, 27, limit->has_high_ns, limit->high_ns);
                bind_text(s, 29, limit->sentence);
        }
        bind_text(s, 28, o->trends && o->trends->growth ? o->trends->growth->sentence : NULL);
}

static void set_run(const struct writer *w, const struct observed *o)
{
        sqlite3_stmt *s = statement_of(w, o, SET_RUN);
        const Hw__Target *t = o->state;
        char *options = NULL;

        bind_number(s, 2, o->number);
        bind_text(s, 4, o->build_id);
        bind_if(s, 8, o->first_ns <= o->last_ns, observed_wall(o, o->first_ns));
        bind_if(s, 9, o->first_ns <= o->last_ns, observed_wall(o, o->last_ns));
        if (t) {
                bind_if(s, 10, o->over, observed_wall(o, o->last_ns));
                bind_word(s, 11, &hw__target__state__descriptor, (int)t->state);
                bind_text(s, 12, t->detail);
                bind_if(s, 13, t->has_exit_status, t->exit_status);
                bind_if(s, 14, t->has_exit_signal, t->exit_signal);
                bind_if(s, 15, t->has_oom_killed, t->oom_killed ? 1 : 0);
        }
        if (t && t->run_info)
                bind_identity(s, t->run_info, &options);
        bind_judgement(s, o);
        bind_number(s, 30, o->lost + o->pending.lost);
        run_statement(w, s);
        sqlite3_free(options);
}

/* -------------------------------------------------------------------- its numbers */

/* From column `at` on: count, least, greatest, sum, last and its time. */
static void bind_cell(sqlite3_stmt *s, int at, const struct cell *c)
{
        bind_number(s, at, c->n);
        bind_real_if(s, at + 1, c->n > 0, c->min);
        bind_real_if(s, at + 2, c->n > 0, c->max);
        (void)sqlite3_bind_double(s, at + 3, c->mean * (double)c->n);
        bind_real_if(s, at + 4, c->n > 0, c->last);
        bind_number(s, at + 5, c->last_ns);
}

static void bind_minute(sqlite3_stmt *s, const struct observed *o, const struct pending_cell *m, uint64_t time_s)
{
        bind_number(s, 2, m->key.of);
        bind_number(s, 3, time_s);
        bind_cell(s, 4, &m->cell);
        (void)sqlite3_bind_double(s, 10, m->area);
        bind_number(s, 11, m->covered_ns);
        (void)sqlite3_bind_double(s, 12, m->rise);
}

static void bind_pause(sqlite3_stmt *s, const struct observed *o, const struct pending_cell *p, uint64_t time_s)
{
        bind_number(s, 2, time_s);
        bind_number(s, 3, p->key.of >> 32);
        bind_number(s, 4, (uint64_t)sketch_middle(PENDING_PAUSE_BITS, (uint32_t)p->key.of));
        bind_number(s, 5, p->cell.n);
}

static void bind_band(sqlite3_stmt *s, const struct observed *o, const struct pending_cell *b, uint64_t time_s)
{
        bind_number(s, 2, time_s);
        bind_number(s, 3, o->bands.items[b->key.of].id);
        bind_cell(s, 4, &b->cell);
}

/* Where cells go: each to the table of its own interval, and to that of a longer one. */
struct tables {
        enum statement to, to_longer;
        uint64_t longer_s;
        void (*bind)(sqlite3_stmt *s, const struct observed *o, const struct pending_cell *c, uint64_t time_s);
};

static const struct tables minute_tables = { ADD_MINUTE, ADD_HOUR, HOUR_S, bind_minute },
                           pause_tables = { ADD_PAUSES_10M, ADD_PAUSES_1D, DAY_S, bind_pause },
                           band_tables = { ADD_BAND_10M, ADD_BAND_1H, HOUR_S, bind_band };

static void add_cells(const struct writer *w, const struct observed *o, const struct pending_cells *cells,
                      const struct tables *t)
{
        for (size_t i = 0; i < cells->n && w->database->result == SQLITE_OK; i++) {
                const struct pending_cell *c = &cells->items[i];
                sqlite3_stmt *s = statement_of(w, o, t->to), *longer = statement_of(w, o, t->to_longer);

                t->bind(s, o, c, c->key.time_s);
                t->bind(longer, o, c, c->key.time_s - c->key.time_s % t->longer_s);
                run_statement(w, s);
                run_statement(w, longer);
        }
}

/* ---------------------------------------------------------------------- its bands */

/* Reads the ids of bands that an earlier session has named; the last one. */
static uint64_t recall_bands(const struct writer *w, struct observed *o)
{
        sqlite3_stmt *s = statement_of(w, o, BANDS_OF_RUN);
        uint64_t last = 0;

        while (sqlite3_step(s) == SQLITE_ROW) {
                const char *name = row_text(s, 1);
                last = row_number(s, 0);
                observed_recall_band(o, name ? name : "", last);
        }
        if (w->database->result == SQLITE_OK)
                w->database->result = s ? sqlite3_reset(s) : SQLITE_ERROR; /* what the last step failed with */
        return last;
}

static void name_bands(const struct writer *w, struct observed *o)
{
        uint64_t last = 0;

        for (uint32_t i = 0; i < o->bands.n && w->database->result == SQLITE_OK; i++) {
                struct observed_band *b = &o->bands.items[i];
                if (!b->id && !last)
                        last = recall_bands(w, o);
                if (b->id)
                        continue;
                sqlite3_stmt *s = statement_of(w, o, ADD_BAND_NAME);
                b->id = ++last;
                bind_number(s, 2, b->id);
                (void)sqlite3_bind_text(s, 3, b->name, -1, SQLITE_STATIC);
                bind_text(s, 4, b->label);
                run_statement(w, s);
        }
}

/* Keeps only the largest bands of ten minutes. */
static void thin_bands(const struct writer *w, const struct observed *o, uint64_t time_s)
{
        sqlite3_stmt *s = statement_of(w, o, THIN_BANDS);

        bind_number(s, 2, time_s);
        bind_number(s, 3, w->bands);
        run_statement(w, s);
}

static void add_bands(const struct writer *w, struct observed *o)
{
        const struct pending_cells *bands = &o->pending.bands;
        uint64_t thinned = UINT64_MAX;

        name_bands(w, o);
        add_cells(w, o, bands, &band_tables);
        for (size_t i = 0; i < bands->n; i++)
                if (bands->items[i].key.time_s != thinned && bands->items[i].key.time_s != o->newest_bands_s) {
                        thinned = bands->items[i].key.time_s;
                        thin_bands(w, o, thinned);
                }
        if (o->thin_s && o->thin_s != o->newest_bands_s)
                thin_bands(w, o, o->thin_s);
        if (o->over && o->newest_bands_s)
                thin_bands(w, o, o->newest_bands_s);
}

/* ------------------------------------------------------- notes, alerts, verdicts */

static void set_alert(const struct writer *w, const struct observed *o, const Hw__Alert *a)
{
        sqlite3_stmt *s = statement_of(w, o, SET_ALERT);

        bind_number(s, 2, a->fingerprint);
        bind_number(s, 3, a->has_since_wall_ns ? a->since_wall_ns : observed_wall(o, a->since_ns));
        bind_text(s, 4, a->rule);
        bind_text(s, 5, a->severity);
        bind_text(s, 6, a->band_label);
        bind_word(s, 7, &hw__alert__state__descriptor, (int)a->state);
        bind_if(s, 8, a->has_fired_wall_ns, a->fired_wall_ns);
        bind_if(s, 9, a->has_resolved_wall_ns, a->resolved_wall_ns);
        bind_text(s, 10, a->value_text);
        bind_text(s, 11, a->sentence);
        run_statement(w, s);
}

static void add_verdict(const struct writer *w, const struct observed *o, const struct observed_verdict *v)
{
        sqlite3_stmt *s = statement_of(w, o, ADD_VERDICT);
        const Hw__Trend *t = v->trend;
        char word[WORD_BYTES];
        const char *verdict = word_of(&hw__verdict__descriptor, (int)t->verdict, word);

        bind_number(s, 2, observed_wall(o, t->has_since_ns ? t->since_ns : t->as_of_ns));
        (void)sqlite3_bind_text(s, 3, v->what, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(s, 4, verdict ? verdict : "unknown", -1, SQLITE_TRANSIENT);
        bind_real_if(s, 5, t->has_slope, t->slope);
        bind_real_if(s, 6, t->has_slope_low, t->slope_low);
        bind_real_if(s, 7, t->has_slope_high, t->slope_high);
        bind_if(s, 8, t->has_onset_ns, observed_wall(o, t->onset_ns));
        bind_text(s, 9, t->sentence);
        run_statement(w, s);
}

static void add_events(const struct writer *w, const struct observed *o)
{
        for (size_t i = 0; i < o->notes.n; i++) {
                const Hw__Note *n = (const Hw__Note *)o->notes.items[i];
                sqlite3_stmt *s = statement_of(w, o, ADD_NOTE);

                bind_number(s, 2, n->number);
                bind_number(s, 3, observed_wall(o, n->time_ns));
                bind_word(s, 4, &hw__note__what__descriptor, (int)n->what);
                bind_if(s, 5, n->has_thread, n->thread);
                bind_text(s, 6, n->text);
                run_statement(w, s);
        }
        for (size_t i = 0; i < o->n_verdicts; i++)
                add_verdict(w, o, &o->verdicts[i]);
        for (size_t i = 0; o->alerts_changed && i < o->alerts->n_alerts; i++)
                if (o->alerts->alerts[i]->state >= HW__ALERT__STATE__STATE_FIRING)
                        set_alert(w, o, o->alerts->alerts[i]);
}

/* ------------------------------------------------------------------- all of it */

int writer_write(const struct writer *w, struct observed *runs)
{
        int *result = &w->database->result;

        *result = database_exec(w->database, "BEGIN IMMEDIATE");
        for (struct observed *o = runs; o && *result == SQLITE_OK; o = o->next) {
                if (!o->changed)
                        continue;
                if (!o->id) {
                        add_run(w, o);
                        add_labels(w, o);
                }
                set_run(w, o);
                add_cells(w, o, &o->pending.minutes, &minute_tables);
                add_cells(w, o, &o->pending.pauses, &pause_tables);
                add_bands(w, o);
                add_events(w, o);
        }
        const int r = *result == SQLITE_OK ? database_exec(w->database, "COMMIT") : *result;
        *result = SQLITE_OK;
        if (r != SQLITE_OK) {
                (void)database_exec(w->database, "ROLLBACK");
                for (struct observed *o = runs; o; o = o->next) { /* ids that the transaction had assigned */
                        o->id = o->written ? o->id : 0;
                        for (uint32_t i = 0; i < o->bands.n; i++)
                                o->bands.items[i].id = 0;
                }
                return r;
        }
        for (struct observed *o = runs; o; o = o->next)
                if (o->changed)
                        observed_written(o);
        return SQLITE_OK;
}
