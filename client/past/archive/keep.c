/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/archiver.h"

#include <stdio.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "heapwatch/text.h"
#include "proto/base/error.h"

#define STEPS     64u /* most steps to get below the cap */
#define RUN_ROWS  "SELECT id, late_s FROM runs"
#define STATEMENT 512

void keep_defaults(struct keep *k)
{
        *k = (struct keep){ .max_bytes = UINT64_C(4) << 30 };
        for (size_t i = 0; i < n_schema_tables; i++)
                k->seconds[i] = schema_tables[i].keep_s;
}

bool keep_parse(struct keep *k, const char *text, struct error *error)
{
        const char *is = strchr(text, '=');
        uint64_t ns = 0;

        for (size_t i = 0; is && i < n_schema_tables; i++) {
                const char *name = schema_tables[i].name;
                if (strlen(name) != (size_t)(is - text) || strncmp(name, text, strlen(name)) != 0)
                        continue;
                if (strcmp(is + 1, "forever") != 0 && (!hw_parse_duration(is + 1, &ns) || ns < HOUR_S * 1000000000u))
                        return error_set(error, "'%s': expected a time of 1h or more, or forever", is + 1);
                k->seconds[i] = ns / 1000000000u;
                return true;
        }
        return error_set(error, "'%s': expected TABLE=TIME, such as series_1m=60d; tables are in docs/ARCHIVE.md",
                         text);
}

/* -------------------------------------------------------------------- statements */

static int execute_one(struct database *d, const char *text, uint64_t a, uint64_t b)
{
        sqlite3_stmt *s = NULL;
        int r = sqlite3_prepare_v2(d->db, text, -1, &s, NULL);

        if (r == SQLITE_OK) {
                (void)sqlite3_bind_int64(s, 1, (int64_t)a);
                if (sqlite3_bind_parameter_count(s) > 1)
                        (void)sqlite3_bind_int64(s, 2, (int64_t)b);
                r = database_run(s);
        }
        (void)sqlite3_finalize(s);
        return r;
}

static int read_number(struct database *d, const char *text, uint64_t *ret)
{
        sqlite3_stmt *s = NULL;
        int r = sqlite3_prepare_v2(d->db, text, -1, &s, NULL);

        *ret = 0;
        if (r == SQLITE_OK && (r = sqlite3_step(s)) == SQLITE_ROW) {
                *ret = row_number(s, 0);
                r = SQLITE_OK;
        }
        (void)sqlite3_finalize(s);
        return r;
}

/* --------------------------------------------------------------------------- ages */

static int forget_rows(struct database *d, const struct schema_table *t, uint64_t run, uint64_t before_s)
{
        char text[STATEMENT];

        (void)snprintf(text, sizeof(text), "DELETE FROM %s WHERE run = ?1 AND %s < ?2", t->name, t->time);
        return execute_one(d, text, run, before_s);
}

/* Deletes runs of which nothing is kept any more. */
static int forget_runs(struct database *d, uint64_t now_s, uint64_t longest_s)
{
        static const char gone[] = "SELECT id FROM runs WHERE coalesce(seen_ns, start_ns) / 1000000000 + late_s < ?1";
        static const char *const parts[] = { "labels", "bands" };
        char text[STATEMENT];
        uint64_t before = now_s > longest_s ? now_s - longest_s : 0;
        int r = SQLITE_OK;

        for (size_t i = 0; i < n_schema_tables + 2 && r == SQLITE_OK; i++) {
                (void)snprintf(text, sizeof(text), "DELETE FROM %s WHERE run IN (%s)",
                               i < n_schema_tables ? schema_tables[i].name : parts[i - n_schema_tables], gone);
                r = execute_one(d, text, before, 0);
        }
        (void)snprintf(text, sizeof(text), "DELETE FROM runs WHERE id IN (%s)", gone);
        return r == SQLITE_OK ? execute_one(d, text, before, 0) : r;
}

static int forget_old(struct database *d, const struct keep *k, uint64_t now_s)
{
        sqlite3_stmt *runs = NULL;
        uint64_t longest_s = 0;
        bool forever = false;
        int r = sqlite3_prepare_v2(d->db, RUN_ROWS, -1, &runs, NULL), row = SQLITE_DONE;

        while (r == SQLITE_OK && (row = sqlite3_step(runs)) == SQLITE_ROW) {
                uint64_t id = row_number(runs, 0), late = row_number(runs, 1);
                for (size_t i = 0; i < n_schema_tables && r == SQLITE_OK; i++)
                        if (k->seconds[i] && now_s > late + k->seconds[i])
                                r = forget_rows(d, &schema_tables[i], id, now_s - late - k->seconds[i]);
        }
        (void)sqlite3_finalize(runs);
        for (size_t i = 0; i < n_schema_tables; i++) {
                forever = forever || !k->seconds[i];
                longest_s = k->seconds[i] > longest_s ? k->seconds[i] : longest_s;
        }
        if (r == SQLITE_OK && row != SQLITE_DONE)
                r = row;
        return r == SQLITE_OK && !forever ? forget_runs(d, now_s, longest_s) : r;
}

/* --------------------------------------------------------------------------- size */

static int used_bytes(struct database *d, uint64_t *ret)
{
        return read_number(d,
                           "SELECT (page_count - freelist_count) * page_size"
                           " FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
                           ret);
}

/* Deletes the oldest tenth of the finest table that is not empty. False in `ret`: there is none. */
static int forget_finest(struct database *d, bool *ret)
{
        char text[STATEMENT];

        *ret = false;
        for (unsigned order = 1; order < KEEP_TABLES; order++)
                for (size_t i = 0; i < n_schema_tables; i++) {
                        const struct schema_table *t = &schema_tables[i];
                        uint64_t least = 0, most = 0;
                        int r;

                        if (t->order != order)
                                continue;
                        (void)snprintf(text, sizeof(text), "SELECT min(%s) FROM %s", t->time, t->name);
                        r = read_number(d, text, &least);
                        (void)snprintf(text, sizeof(text), "SELECT max(%s) FROM %s", t->time, t->name);
                        r = r == SQLITE_OK ? read_number(d, text, &most) : r;
                        if (r != SQLITE_OK)
                                return r;
                        if (!most)
                                continue;
                        *ret = true;
                        (void)snprintf(text, sizeof(text), "DELETE FROM %s WHERE %s <= ?1", t->name, t->time);
                        return execute_one(d, text, least + (most - least) / 10, 0);
                }
        return SQLITE_OK;
}

int keep_apply(struct database *d, const struct keep *k, uint64_t now_s, uint64_t *ret_bytes)
{
        bool more = true;
        int r = database_exec(d, "BEGIN IMMEDIATE");

        r = r == SQLITE_OK ? forget_old(d, k, now_s) : r;
        r = r == SQLITE_OK ? used_bytes(d, ret_bytes) : r;
        for (unsigned i = 0; r == SQLITE_OK && k->max_bytes && *ret_bytes > k->max_bytes && more && i < STEPS; i++) {
                r = forget_finest(d, &more);
                r = r == SQLITE_OK ? used_bytes(d, ret_bytes) : r;
        }
        r = r == SQLITE_OK ? database_exec(d, "COMMIT") : r;
        if (r != SQLITE_OK) {
                (void)database_exec(d, "ROLLBACK");
                return r;
        }
        return database_exec(d, "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
}
