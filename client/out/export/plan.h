/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - what to export where: from options, a configuration file, or both. The plan owns its texts. */
#pragma once

#include "client/out/export/batcher.h"
#include "client/out/export/limits.h"
#include "client/out/export/sender.h"
#include "proto/cli/options.h"

enum sink_kind {
#define PULLED(id, ...) SINK_##id,
#define SENT(id, ...)   SINK_##id,
#include "client/out/export/sinks.def"
#undef PULLED
#undef SENT
        SINK_KINDS,
};

/* A sink that is a file, written at each interval. */
struct file_kind {
        const char *suffix; /* that its path must have */
        bool (*may_replace)(const char *path);
        /* Returns how many samples it has; 0 with a message in `error`, then the old file is untouched. */
        uint64_t (*write)(const char *path, struct metrics *m, const struct metrics_source *source,
                          struct error *error);
};

extern const struct file_kind textfile;

/* A row of sinks.def. */
struct sink_kind_row {
        const char *name, *key, *operand;   /* key: of its address in a file; operand: the address in a usage */
        const struct batcher_kind *batcher; /* NULL: others read it */
        const struct file_kind *file;       /* NULL: it is no file */
        bool native;
        const char *formats[3]; /* ended by NULL */
};

extern const struct sink_kind_row sink_kinds[SINK_KINDS];

struct sink_plan {
        enum sink_kind kind;
        char *name;
        char *address; /* a URL, a path, or where to listen */
        char *token_file, *bearer_file, *basic_file, *ca_file;
        bool no_token;
        size_t format; /* place in the kind's formats, from 1; 0: not given */
        enum native_histograms { NATIVE_BY_KIND, NATIVE_NO, NATIVE_YES } native;
        uint64_t interval_ns; /* 0: the plan's; the same for the next two */
        uint64_t bands, series;
        uint64_t queue_bytes, queue_ns, timeout_ns; /* 0: the default */
};

struct plan {
        struct sink_plan sinks[EXPORT_SINKS_MAX];
        size_t n_sinks;
        char *daemons[OPTIONS_MAX];
        size_t n_daemons;
        struct metric_label labels[EXPORT_LABELS_MAX]; /* both texts owned */
        size_t n_labels;
        uint64_t interval_ns, bands, series;
        char *journal; /* directory; NULL: the default */
        bool no_journal;
};

void plan_done(struct plan *p);

/* Another sink, zeroed except for its kind; NULL when there are too many. */
struct sink_plan *plan_add(struct plan *p, enum sink_kind kind);

/* Adds or replaces. False with a message: an invalid name, too many. */
bool plan_label(struct plan *p, const char *name, const char *value, struct error *error);

/* Completes it with names and defaults; reports what is wrong or missing. */
bool plan_check(struct plan *p, struct error *error);

/* Reads a configuration file into it. False after reporting what is wrong, line by line. */
bool plan_read(struct plan *p, const char *path);

/* The forms of remote writes that may be sent. */
enum remote_write_form sink_best_form(const struct sink_plan *s);
enum remote_write_form sink_least_form(const struct sink_plan *s);

/* How samples of the sink are encoded; NULL: as text, which others read. */
const struct batcher_kind *sink_batcher(const struct sink_plan *s);
