/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model against what the runtime itself wrote of the same run: run.hp for
 * censuses, gc.S and oracle.json for collections, run.prof for ticks. Every log
 * of tests/data/logs that has such files is read; damaged ones are skipped.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "heapwatch/eventlog.h"
#include "daemon/model/model.h"

#define LOGS         "tests/data/logs"
#define MAX_CENSUSES 200
#define MAX_ROWS     2000

struct row {
        char label[200];
        uint64_t bytes;
};

struct sample {
        struct row *rows;
        size_t n;
        uint64_t sum;
};

static struct sample censuses[MAX_CENSUSES], samples[MAX_CENSUSES];
static size_t n_censuses, n_samples;
static struct model *m;

static char *slurp(const char *run, const char *name, size_t *ret_size)
{
        char path[512];
        snprintf(path, sizeof(path), LOGS "/%s/%s", run, name);
        FILE *file = fopen(path, "rb");
        if (!file)
                return NULL;
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        size_t size = (size_t)ftell(file);
        rewind(file);
        char *text = calloc(1, size + 1);
        assert_int_equal(fread(text, 1, size, file), size);
        fclose(file);
        if (ret_size)
                *ret_size = size;
        return text;
}

static struct sample *start(struct sample *list, size_t *n)
{
        struct sample *s = &list[(*n)++];

        assert_true(*n < MAX_CENSUSES);
        free(s->rows);
        *s = (struct sample){ .rows = calloc(MAX_ROWS, sizeof(struct row)) };
        return s;
}

static void add_row(struct sample *s, const char *label, uint64_t bytes)
{
        assert_true(s->n < MAX_ROWS);
        s->sum += bytes;
        for (size_t i = 0; i < s->n; i++) {
                if (!strcmp(s->rows[i].label, label)) { /* rows of one label are added, in both */
                        s->rows[i].bytes += bytes;
                        return;
                }
        }
        snprintf(s->rows[s->n].label, sizeof(s->rows[s->n].label), "%s", label);
        s->rows[s->n++].bytes = bytes;
}

static void take_census(void *ctx, const struct census *census)
{
        struct sample *s = start(censuses, &n_censuses);

        assert_false(census->unfinished);
        for (uint32_t i = 0; i < census->n_rows; i++) {
                const struct band *band = bands_get(model_bands(m), census->rows[i].band);
                char label[256];
                if (band->info_table || model_run(m)->breakdown == BREAKDOWN_INFO_TABLE)
                        snprintf(label, sizeof(label), "0x%llx", (unsigned long long)band->key);
                else if (band->stack) /* labels of .hp are cut: only stack by stack */
                        snprintf(label, sizeof(label), "stack %u", (unsigned)band->id);
                else
                        snprintf(label, sizeof(label), "%s", band->label);
                add_row(s, label, census->rows[i].bytes);
        }
        assert_int_equal(s->sum, census->total_bytes);
}

static void read_hp(char *text)
{
        struct sample *s = NULL;
        char *save = NULL;

        n_samples = 0;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                char *tab = strchr(line, '\t');
                if (!strncmp(line, "BEGIN_SAMPLE", 12))
                        s = start(samples, &n_samples);
                else if (!strncmp(line, "END_SAMPLE", 10) && s && !s->n)
                        n_samples--; /* there are empty ones at both ends */
                else if (tab && s) {
                        *tab = '\0';
                        add_row(s, line, strtoull(tab + 1, NULL, 10));
                }
        }
}

static int by_label(const void *a, const void *b)
{
        return strcmp(((const struct row *)a)->label, ((const struct row *)b)->label);
}

static void compare_censuses(const char *run, bool labels)
{
        assert_true(n_samples > 0);
        if (n_samples != n_censuses)
                fail_msg("%s: %zu censuses, run.hp has %zu", run, n_censuses, n_samples);
        for (size_t i = 0; i < n_samples; i++) {
                struct sample *a = &censuses[i], *b = &samples[i];
                if (a->sum != b->sum || (labels ? a->n != b->n : a->n > b->n))
                        fail_msg("%s: census %zu: %zu rows, run.hp has %zu", run, i, a->n, b->n);
                if (!labels) /* -hc: run.hp has cut labels, and several rows for stacks that are equal in the log */
                        continue;
                qsort(a->rows, a->n, sizeof(struct row), by_label);
                qsort(b->rows, b->n, sizeof(struct row), by_label);
                for (size_t k = 0; k < a->n; k++) {
                        assert_int_equal(a->rows[k].bytes, b->rows[k].bytes);
                        assert_string_equal(a->rows[k].label, b->rows[k].label);
                }
        }
}

static void feed_log(const char *run, const char *name)
{
        size_t size, n;
        char *bytes = slurp(run, name, &size);
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event events[256];
        enum hw_eventlog_status s;
        uint32_t runs = 0;

        assert_non_null(log);
        hw_eventlog_input(log, bytes, size);
        while ((s = hw_eventlog_read(log, events, 256, &n)) != HW_EVENTLOG_NEED_MORE || n > 0) {
                model_events(m, events, n);
                if (s == HW_EVENTLOG_RUN)
                        model_begin_run(m, ++runs);
                assert_true(s != HW_EVENTLOG_BAD && s != HW_EVENTLOG_LIMIT);
        }
        assert_int_equal(runs, 1);
        hw_eventlog_destroy(&log);
        free(bytes);
        model_end_run(m, true);
        if (model_time_anomalies(m))
                fail_msg("%s: %llu times outside their block", run, (unsigned long long)model_time_anomalies(m));
}

/* A number of oracle.json; UNKNOWN_U64 when it is not there. */
static uint64_t oracle(const char *json, const char *name)
{
        char key[64];

        snprintf(key, sizeof(key), "\"%s\": ", name);
        const char *p = json ? strstr(json, key) : NULL;
        return p ? strtoull(p + strlen(key), NULL, 10) : UNKNOWN_U64;
}

static void compare_oracle(const char *json)
{
        if (oracle(json, "log_gc_stats_events") == UNKNOWN_U64 || oracle(json, "S_allocated") == UNKNOWN_U64)
                return;
        assert_int_equal(model_heap(m)->allocated_bytes, oracle(json, "S_allocated"));
        assert_int_equal(model_gc(m)->collections, oracle(json, "S_colls"));
        assert_int_equal(model_heap(m)->max_live_bytes, oracle(json, "S_max_residency"));
        assert_int_equal(model_heap(m)->live_samples, oracle(json, "log_live_events"));
        assert_int_equal(model_gc(m)->unmatched, 0);
        assert_int_equal(model_late_samples(m), 0);
}

/* Reads "2,298,278,432" before `what`, on the line that has it. */
static uint64_t with_commas(const char *text, const char *what)
{
        const char *p = strstr(text, what);
        uint64_t n = 0, place = 1;

        assert_non_null(p);
        while (p > text && *--p != '\n') {
                if (*p >= '0' && *p <= '9') {
                        n += (uint64_t)(*p - '0') * place;
                        place *= 10;
                }
        }
        return n;
}

static void about(const char *run, double got, double want, double slack)
{
        if (fabs(got - want) > slack)
                fail_msg("%s: %.6f s, gc.S says %.6f s", run, got, want);
}

static void compare_gc_s(const char *run, const char *text)
{
        const struct gc *gc = model_gc(m);

        assert_int_equal(gc->copied_bytes, with_commas(text, " bytes copied during GC"));
        assert_int_equal(gc->max_slop_bytes, with_commas(text, " bytes maximum slop"));
        for (unsigned g = 0; g < gc->n_generations; g++) {
                unsigned colls, par;
                double cpu, elapsed, avg, max;
                char key[24];
                snprintf(key, sizeof(key), "\n  Gen  %u ", g);
                const char *p = strstr(text, key);
                assert_non_null(p);
                assert_int_equal(sscanf(p + strlen(key), "%u colls, %u par %lfs %lfs %lfs %lfs", &colls, &par, &cpu,
                                        &elapsed, &avg, &max),
                                 6);
                assert_int_equal(gc->generations[g].count, colls);
                assert_int_equal(gc->generations[g].parallel_count, par);
                about(run, (double)gc->generations[g].pause_total_ns / 1e9, elapsed, 0.0006);
                about(run, (double)gc->generations[g].pause_max_ns / 1e9, max, 0.00006);
        }
}

static bool pseudo(const char *label)
{
        static const char *const names[] = { "IDLE", "GC", "SYSTEM", "OVERHEAD_of" };

        for (size_t i = 0; i < 4; i++)
                if (!strcmp(label, names[i]))
                        return true;
        return false;
}

static void compare_prof(const char *text)
{
        const char *p = strstr(text, "secs   (");
        uint64_t ticks = 0, want, all = 0;

        assert_non_null(p);
        want = strtoull(p + 8, NULL, 10);
        for (uint32_t i = 1; i <= profile_stacks(model_profile(m)); i++) {
                const struct profile_stack *s = profile_get(model_profile(m), i);
                struct cost_centre c = { 0 };
                if (s->depth)
                        c = bands_cost_centre(model_bands(m), s->centres[0]);
                assert_true(!s->depth || c.label);
                all += s->ticks;
                if (!s->depth || !pseudo(c.label))
                        ticks += s->ticks;
        }
        assert_int_equal(all, profile_ticks(model_profile(m)));
        assert_in_range(ticks, want - 1, want + 1);
}

/* Reads one run; returns which oracles it had: 1 run.hp, 2 oracle.json, 4 gc.S, 8 run.prof. */
static unsigned one_run(const char *run)
{
        unsigned had = 0;
        struct model_sink sink = { .census = take_census };
        char *hp = slurp(run, "run.hp", NULL), *json = slurp(run, "oracle.json", NULL);
        char *gc = slurp(run, "gc.S", NULL), *prof = slurp(run, "run.prof", NULL);

        n_censuses = n_samples = 0;
        m = model_new(&sink);
        assert_non_null(m);
        feed_log(run, "run.eventlog");
        assert_true(model_run(m)->program && model_run(m)->ghc_number >= 900 && model_run(m)->pid);
        assert_true(model_run(m)->start_wall_ns != UNKNOWN_U64 && model_run(m)->rts_way[0]);
        if (hp) {
                read_hp(hp);
                compare_censuses(run, model_run(m)->breakdown != BREAKDOWN_COST_CENTRE_STACK);
                had |= 1;
        }
        if (json) {
                compare_oracle(json);
                had |= 2;
        }
        if (gc && model_gc(m)->collections) {
                compare_gc_s(run, gc);
                had |= 4;
        }
        if (prof && profile_ticks(model_profile(m))) {
                compare_prof(prof);
                had |= 8;
        }
        model_destroy(&m);
        free(hp);
        free(json);
        free(gc);
        free(prof);
        return had;
}

TEST(test_every_log)
{
        unsigned count[4] = { 0 };
        DIR *dir = opendir(LOGS);

        assert_non_null(dir);
        for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
                char path[512];
                snprintf(path, sizeof(path), LOGS "/%s/run.eventlog", d->d_name);
                FILE *f = fopen(path, "rb");
                if (!f)
                        continue;
                fclose(f);
                if (!strncmp(d->d_name, "torn", 4) || !strncmp(d->d_name, "crash", 5))
                        continue;
                unsigned had = one_run(d->d_name);
                for (unsigned i = 0; i < 4; i++)
                        count[i] += had >> i & 1;
        }
        closedir(dir);
        print_message("run.hp %u, oracle.json %u, gc.S %u, run.prof %u\n", count[0], count[1], count[2], count[3]);
        assert_true(count[0] >= 20 && count[1] >= 30 && count[2] >= 20 && count[3] >= 3);
        for (size_t i = 0; i < MAX_CENSUSES; i++) {
                free(censuses[i].rows);
                free(samples[i].rows);
        }
}
