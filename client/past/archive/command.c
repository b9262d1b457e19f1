/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - `heapwatch archive`: keeps what daemons see, for months; takes finished logs in; labels runs. */
#include "client/cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/archiver.h"
#include "client/past/archive/read.h"
#include "client/cli/options.h"
#include "client/cli/report.h"
#include "client/cli/signals.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/labels.h"

struct request {
        struct selection from;
        struct text_list labels, keep;
        const char *db, *of, *name;
        uint64_t max_bytes, bands, interval_ns;
        enum log_level level;
        char path[PATH_MAX];
        struct archiver_options options;
};

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "TARGET|LOG...", struct text_list, 0, 0, struct request, from.operands,
                COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_TEXT("db", 0, "FILE", struct request, db, COMPLETE_FILE,
                    "the archive; default: $HEAPWATCH_ARCHIVE, else heapwatch/archive.db below $XDG_STATE_HOME"),
        OPTION_LIST("label", 'l', "NAME=VALUE", struct request, labels, COMPLETE_NOTHING,
                    "a label of each run that is archived, such as version=1.4.2; may be repeated"),
        OPTION_TEXT("of", 0, "TARGET@WHEN", struct request, of, COMPLETE_NOTHING,
                    "only give --label to runs in the archive, such as api@run:0, and end"),
        OPTION_TEXT("target", 't', "NAME", struct request, name, COMPLETE_TARGET,
                    "for logs: the target that they are runs of; default: the file's name"),
        OPTION_LIST("keep", 'k', "TABLE=TIME", struct request, keep, COMPLETE_NOTHING,
                    "how long a table's rows are kept, such as series_1m=60d or bands_1h=forever; may be repeated"),
        OPTION_BYTES("max-size", 0, struct request, max_bytes, UINT64_C(1) << 20,
                     "largest size of the archive: beyond it the oldest rows of the finest tables are deleted; default "
                     "4GiB"),
        OPTION_NUMBER("bands", 'b', uint64_t, struct request, bands, 1, 20000,
                      "how many of the largest bands are kept for each ten minutes; default 50. For each hour all are"),
        OPTION_DURATION("interval", 'i', struct request, interval_ns, UINT64_C(1000000000), UINT64_C(600000000000),
                        "how often data is written, 1s to 10m; default 10s: this much is lost when it is killed"),
        OPTION_CONNECT(struct request, from.endpoints),
        OPTIONS_OF_TREND(struct request, from.judging),
        OPTION_CHOICE("log-level", 0, "LEVEL", enum log_level, struct request, level, log_level_names,
                      "error, warning, info (default) or debug"),
        OPTIONS_END,
};

static int check_labels(const struct request *r)
{
        char labels[LABELS_SIZE];
        struct error error;

        if (!labels_join(r->labels.items, r->labels.n, labels, &error))
                return command_usage_error(&command_archive, "%s", error.text);
        if (r->of && !r->labels.n)
                return command_usage_error(&command_archive, "--of needs --label");
        if (r->of && (r->from.operands.n || r->from.endpoints.n))
                return command_usage_error(&command_archive, "--of only labels runs, and archives nothing");
        return 0;
}

static int check_sources(struct request *r)
{
        const int status = selection_check(&command_archive, &r->from);

        if (status)
                return status;
        if (r->name && (!r->from.files.n || !hw_target_name_valid(r->name)))
                return command_usage_error(&command_archive, "--target %s: %s", r->name,
                                           r->from.files.n ? "expected 1 to 64 of A-Z a-z 0-9 . _ ~ -"
                                                           : "of which log?");
        return 0;
}

static int check_request(void *filled)
{
        struct request *r = filled;
        struct error error;
        struct keep *keep = &r->options.keep;
        int status = check_labels(r);

        if (status == 0)
                status = check_sources(r);
        keep_defaults(keep);
        for (size_t i = 0; i < r->keep.n && status == 0; i++)
                if (!keep_parse(keep, r->keep.items[i], &error))
                        status = command_usage_error(&command_archive, "--keep %s", error.text);
        if (r->max_bytes)
                keep->max_bytes = r->max_bytes;
        if (status == 0 && !r->db && !database_default_path(r->path, sizeof(r->path)))
                status = command_usage_error(&command_archive,
                                             "there is no home directory for an archive; give --db FILE");
        return status;
}

/* Labels runs in the archive, also while another process writes it. */
static int label_log(const struct request *r, const char *path)
{
        struct database d;
        struct archived_runs runs = { .n = 0 };
        struct error error;
        bool good = database_open_to_label(&d, path, &error) && select_runs(&d, r->of, clock_wall_ns(), &runs, &error);

        for (size_t i = 0; good && i < runs.n; i++)
                for (size_t k = 0; good && k < r->labels.n; k++)
                        good = database_label(&d, runs.items[i].id, r->labels.items[k], &error);
        if (good)
                (void)printf("%zu %s labelled\n", runs.n, runs.n == 1 ? "run" : "runs");
        else
                command_error(&command_archive, "%s", error.text);
        archived_runs_done(&runs);
        database_close(&d);
        return good ? EXIT_OK : EXIT_USAGE;
}

static int run_archive(void *filled)
{
        struct request *r = filled;
        const char *path = r->db ? r->db : r->path;
        int status;

        report_set_level(r->level);
        if (r->of)
                return label_log(r, path);
        r->options.path = path;
        r->options.name = r->name;
        r->options.from = &r->from;
        r->options.labels = &r->labels;
        r->options.bands = r->bands;
        r->options.interval_ns = r->interval_ns;
        signals_catch(false);
        status = archiver_run(&r->options);
        if (r->from.files.n) /* for a service, being stopped is a normal end */
                signals_die();
        return status;
}

const struct command command_archive = {
        .name = "archive",
        .summary = "keep what daemons see for months, in one SQLite file",
        .usage = TEXTS("[--db FILE] [TARGET]... [OPTION]...", "[--db FILE] LOG... [OPTION]...",
                       "[--db FILE] --of TARGET@WHEN --label NAME=VALUE"),
        .about = "Follows daemons and keeps runs, series by the minute, pauses and bands by ten minutes and by the "
                 "hour, notes, alerts and verdicts; or takes in finished logs and ends. `heapwatch archive "
                 "history`, `trend --since` and `diff api@now --against api@last-week` read it, and so does "
                 "sqlite3, while it is written: the tables are in docs/ARCHIVE.md.",
        .options = options,
        .notes = "What was not seen, because the daemon or the archiver was away, stays a gap. While it cannot be "
                 "written, new data waits in memory, within bounds. A damaged file is set aside under another name, "
                 "and a new one begins. One process at a time writes a file.",
        .status = "0 stopped by a signal, or all files were read, 2 bad usage, or the archive could not be written.",
        .examples = TEXTS("heapwatch archive --db /var/lib/heapwatch/archive.db",
                          "heapwatch archive --target api --label version=$(git describe) nightly.eventlog",
                          "heapwatch archive --of api@run:0 --label version=1.4.2",
                          "sqlite3 ~/.local/state/heapwatch/archive.db 'SELECT * FROM hours'"),
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .level = LOG_INFO, .bands = 50, .interval_ns = UINT64_C(10000000000) },
        .check = check_request,
        .run = run_archive,
};
