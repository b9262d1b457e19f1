/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bundle.c - `heapwatch recording bundle`: what was seen around a moment, in one directory.
 *
 * DESIGN: a pin holds the segments while what is to come is waited for; then
 * the stretch is written, and `trend` and `report` - this very program - say
 * what is in it. A step that fails is named in the end and leaves out its file:
 * half a bundle is better than none, as long as the eventlog is in it.
 */
#include "client/cli/endpoints.h"
#include "client/cli/options.h"
#include "client/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "client/world/feed/locate.h"
#include "client/commands/bundles.h"
#include "proto/base/child.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/cli/options.h"
#include "proto/eventlog/recording/run_dir.h"
#include "proto/eventlog/recording/stretch.h"
#include "proto/wire/action_plan.h"

#define LOOK_MS   500
#define SLACK_NS  UINT64_C(2000000000)   /* that an alert may be ahead of what is recorded */
#define RECENT_NS UINT64_C(120000000000) /* how long ago a run may have ended of which an alert just came */
#define TRIES     5                      /* of an alert: a machine in trouble may answer late */
#define NOT_SAID  UINT64_MAX             /* a limit: other for alerts than by hand */

struct bundle {
        struct locate where;
        const char *which, *alert, *output;
        uint64_t before_ns, after_ns;
        uint64_t keep_bytes;
        struct bundle_limits limits;
};

/* The alert, as `heapwatch notify` gives it to programs. */
struct cause {
        json_t *json; /* NULL: there is none */
        char why[64];
        uint64_t onset_ns, fired_ns; /* event time; UINT64_MAX: not known */
};

/* ------------------------------------------------------------------- alert */

static uint64_t number_of(const json_t *alert, const char *name)
{
        const char *text = json_string_value(json_object_get(alert, name));

        return text && *text ? strtoull(text, NULL, 10) : UINT64_MAX;
}

static bool read_cause(const char *path, struct cause *c, struct error *error)
{
        json_error_t why;
        FILE *f = !path || !strcmp(path, "-") ? stdin : fopen(path, "re");

        *c = (struct cause){ .why = "asked", .onset_ns = UINT64_MAX, .fired_ns = UINT64_MAX };
        if (!path)
                return true;
        if (!f)
                return error_set(error, "%s: %s", path, strerror(errno));
        c->json = json_loadf(f, JSON_DISABLE_EOF_CHECK, &why);
        if (f != stdin)
                fclose(f);
        if (!c->json)
                return error_set(error, "%s is not an alert as JSON: line %d: %s", path, why.line, why.text);
        const char *rule = json_string_value(json_object_get(c->json, "alert"));
        snprintf(c->why, sizeof(c->why), "%s", rule ? rule : "alert");
        c->onset_ns = number_of(c->json, "activeTimeNs");
        c->fired_ns = number_of(c->json, "startsTimeNs");
        return true;
}

/* ----------------------------------------------------------------- stretch */

/* Whether the alert is about the run before: a program that crashed may have begun again by now. */
static bool is_before(const struct recorded_run *before, const struct recorded_run *newest, uint64_t fired_ns)
{
        return fired_ns != UINT64_MAX && newest->end_ns < fired_ns && before->end_ns + SLACK_NS >= fired_ns &&
               sub_sat(clock_wall_ns(), before->end_wall_ns) < RECENT_NS;
}

/* The run that an alert which fired then is about. */
static bool find_run(const struct bundle *b, uint64_t fired_ns, const char *directory, struct recorded_run *run,
                     struct error *error)
{
        struct recorded_run *runs = NULL;

        if (recorded_run_find(directory, b->which, run, error) != 0)
                return false;
        if (strpbrk(b->which, "@~"))
                return true;
        int n = recorded_runs(directory, b->which, &runs, error);
        if (n > 1 && is_before(&runs[n - 2], &runs[n - 1], fired_ns))
                *run = runs[n - 2];
        free(runs);
        return true;
}

/* As it is by now; a daemon that does not answer writes by itself within seconds. */
static bool make_again(const struct bundle *b, const char *directory, struct recorded_run *run, struct error *error)
{
        char which[RUN_TARGET_MAX + RUN_NAME_MAX + 2];

        snprintf(which, sizeof(which), "%s@%s", run->target, run->name);
        (void)locate_seal(&b->where, b->which, error);
        return recorded_run_find(directory, which, run, error) == 0;
}

/* Until what was to come has come, the run is over, or the user has enough. */
static bool wait_until(const struct bundle *b, const char *directory, struct recorded_run *run, uint64_t to_ns,
                       struct error *error)
{
        const uint64_t until_ns = clock_mono_ns() + b->after_ns + LOOK_MS * UINT64_C(1000000);

        while (run->live && run->end_ns < to_ns && !signals_stop() && clock_mono_ns() < until_ns) {
                (void)poll(NULL, 0, LOOK_MS);
                if (!make_again(b, directory, run, error))
                        return false;
        }
        return true;
}

static bool write_log(const char *directory, const char *path, const struct recorded_run *run,
                      struct cutout_range range, struct error *error)
{
        char file[RECORDED_PATH_MAX + 16];
        struct cutout *c = cutout_open(directory, run, range, error);
        uint64_t bytes;

        if (!c)
                return false;
        snprintf(file, sizeof(file), "%s/run.eventlog", path);
        int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int r = fd < 0 ? -errno : stretch_file_copy(c, fd, &bytes);
        if (fd >= 0 && close(fd) != 0 && r == 0)
                r = -errno;
        cutout_close(&c);
        return r == 0 || error_set(error, "%s: %s", file, strerror(-r));
}

/* ------------------------------------------------------ verdict and report */

/*
 * Runs another command of this program with its standard output in a file; `quiet` discards its messages, for there is
 * another way. True if it exited with 0, or with 1 for a finding.
 */
static bool run_to_file(const char *path, const char *name, const char *const *words, bool quiet)
{
        char file[RECORDED_PATH_MAX + 32];
        pid_t pid;
        int status = -1;

        snprintf(file, sizeof(file), "%s/%s", path, name);
        (void)fflush(NULL);
        int out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        const int files[] = { STDIN_FILENO, out, quiet ? CHILD_NULL : STDERR_FILENO };
        if (out >= 0 && child_spawn((char *const *)words, files, CHILD_BESIDE, &pid) == 0)
                status = child_wait(pid);
        close_fd(&out);
        const bool good = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
        if (!good)
                (void)unlink(file);
        return good;
}

/*
 * The verdict of a run that is still live comes from the daemon, which has seen all of it; of any other run from the
 * stretch: the daemon may have the next run of that name by now.
 */
static bool write_verdict(const struct bundle *b, const struct recorded_run *run, const char *path, const char *log)
{
        char target[RUN_TARGET_MAX + 1];
        const char *live[7 + ENDPOINTS_WORDS + 1] = {
                "heapwatch", "trend", target, "--format", "json", "--bands", "50"
        };
        const char *of_log[] = { "heapwatch", "trend", log, "--format", "json", "--bands", "50", NULL };

        snprintf(target, sizeof(target), "%.*s", (int)strcspn(b->which, "@"), b->which);
        live[7 + endpoints_words(live + 7)] = NULL;
        return (run->live && !b->where.directory && run_to_file(path, "verdict.json", live, true)) ||
               run_to_file(path, "verdict.json", of_log, false);
}

/*
 * Of a run that has ended: its post-mortem, and of the core file that this names what the heap and the threads were,
 * for systemd removes it after some days. From the graph `heapwatch why` goes on.
 */
static void write_post_mortem(const char *recordings, const struct recorded_run *run, const char *path)
{
        char which[2 * RECORDED_PATH_MAX], file[RECORDED_PATH_MAX + 32], graph[RECORDED_PATH_MAX + 32];
        const char *words[] = { "heapwatch", "post-mortem", which, "--format", "json", NULL };

        snprintf(which, sizeof(which), RECORDING_PREFIX "%s/%s@%s", recordings, run->target, run->name);
        snprintf(file, sizeof(file), "%s/post-mortem.json", path);
        snprintf(graph, sizeof(graph), "%s/core.heapgraph", path);
        if (!run_to_file(path, "post-mortem.json", words, false)) {
                command_error(&command_bundle, "no post-mortem.json: heapwatch post-mortem failed");
                return;
        }
        json_t *said = json_load_file(file, 0, NULL);
        const char *core = json_string_value(json_object_get(said, "core"));
        const char *threads[] = { "heapwatch", "threads", core, NULL };
        const char *heap[] = { "heapwatch", "heap", core, "-o", graph, NULL };
        if (core && (!run_to_file(path, "core-threads.txt", threads, false) ||
                     !run_to_file(path, "core-heap.txt", heap, false)))
                command_error(&command_bundle, "the core file %s is not in it", core);
        json_decref(said);
}

/* The report is of the recording, so it has a profile that was kept with it in that stretch. */
static void write_all_else(const struct bundle *b, const struct cause *c, const char *recordings,
                           const struct recorded_run *run, struct cutout_range range, const char *path)
{
        char log[RECORDED_PATH_MAX + 16], report[RECORDED_PATH_MAX + 16], alert[RECORDED_PATH_MAX + 16];
        char *stretch = NULL;

        if (asprintf(&stretch, RECORDING_PREFIX "%s/%s@%s?from=%" PRIu64 "ns&to=%" PRIu64 "ns", recordings, run->target,
                     run->name, range.from_ns, range.to_ns) < 0)
                stretch = NULL;
        const char *words[] = { "heapwatch", "report", stretch ? stretch : log, "-o", report, NULL };
        snprintf(log, sizeof(log), "%s/run.eventlog", path);
        snprintf(report, sizeof(report), "%s/report.html", path);
        snprintf(alert, sizeof(alert), "%s/alert.json", path);
        int fd = c->json ? open(alert, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
        if (fd >= 0) {
                if (json_dumpfd(c->json, fd, JSON_INDENT(1)) != 0)
                        command_error(&command_bundle, "alert.json is not whole: %s", strerror(errno));
                close(fd);
        }
        if (!write_verdict(b, run, path, log))
                command_error(&command_bundle, "no verdict.json: heapwatch trend failed");
        if (!run_to_file(path, ".output", words, false))
                command_error(&command_bundle, "no report.html: heapwatch report failed");
        if (!run->live)
                write_post_mortem(recordings, run, path);
        snprintf(alert, sizeof(alert), "%s/.output", path);
        (void)unlink(alert);
        free(stretch);
}

/* --------------------------------------------------------------------- run */

/* All of it, into the directory that was begun. */
static bool fill_bundle(const struct bundle *b, const struct cause *c, const char *recordings, const char *path,
                        struct error *error)
{
        struct recorded_run run;
        struct pin pin = { .fd = -1 };

        if (!find_run(b, c->fired_ns, recordings, &run, error))
                return false;
        const uint64_t onset_ns = c->onset_ns < run.end_ns ? c->onset_ns : run.end_ns;
        const uint64_t fired_ns = c->fired_ns != UINT64_MAX && c->fired_ns > onset_ns ? c->fired_ns : run.end_ns;
        struct cutout_range range = { sub_sat(onset_ns, b->before_ns), fired_ns };
        if (ckd_add(&range.to_ns, range.to_ns, b->after_ns))
                range.to_ns = UINT64_MAX;
        int r = pin_acquire(&pin, recordings, &run, range.from_ns);
        if (r != 0)
                command_error(&command_bundle,
                              "the recording cannot be pinned (%s): its oldest part may be removed meanwhile",
                              strerror(-r));
        const bool good =
                wait_until(b, recordings, &run, range.to_ns, error) && write_log(recordings, path, &run, range, error);
        if (good && !signals_stop())
                write_all_else(b, c, recordings, &run, range, path);
        pin_release(&pin);
        return good;
}

static int make_bundle(const struct bundle *b, const struct cause *c, struct error *error)
{
        char recordings[RECORDED_PATH_MAX], bundles[RECORDED_PATH_MAX], path[RECORDED_PATH_MAX];
        bool limited = false;

        for (int tries = b->alert ? TRIES : 1;
             !locate_directory(&b->where, recordings, error) || !locate_seal(&b->where, b->which, error);)
                if (--tries == 0 || signals_stop())
                        return EXIT_USAGE;
        /* Beside the directory of recordings. */
        const char *slash = strrchr(recordings, '/');

        snprintf(bundles, RECORDED_PATH_MAX, "%.*s/bundles", slash ? (int)(slash - recordings) : 1,
                 slash ? recordings : ".");
        if (b->output)
                snprintf(bundles, sizeof(bundles), "%s", b->output);
        if (!bundle_begin(bundles, b->which, c->why, &b->limits, clock_wall_ns(), path, &limited, error)) {
                if (!limited)
                        return EXIT_USAGE;
                puts(error->text);
                return EXIT_OK;
        }
        bool good = fill_bundle(b, c, recordings, path, error) && !signals_stop() && bundle_end(path, error);
        if (!good) {
                bundle_remove(path);
                return EXIT_USAGE;
        }
        if (b->keep_bytes)
                bundles_trim(bundles, b->keep_bytes, clock_wall_ns());
        puts(path);
        return EXIT_OK;
}

static int run_bundle(void *filled)
{
        struct bundle *b = filled;
        struct cause cause;
        struct error error = { "" };

        if (b->limits.apart_ns == NOT_SAID)
                b->limits.apart_ns = b->alert ? ACTION_DUMP_APART_NS : 0;
        if (b->limits.per_day == NOT_SAID)
                b->limits.per_day = b->alert ? ACTION_DUMP_PER_DAY : 0;
        int status = read_cause(b->alert, &cause, &error) ? make_bundle(b, &cause, &error) : EXIT_USAGE;
        if (status != EXIT_OK && error.text[0] && !signals_stop())
                command_error(&command_bundle, "%s", error.text);
        json_decref(cause.json);
        return status;
}

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET[~N|@RUN]", const char *, 1, 1, struct bundle, which, COMPLETE_TARGET,
                "of that target the newest run; RUN: one by the beginning of its name, or -1 for the one before"),
        OPTION_DURATION("before", 'b', struct bundle, before_ns, 0, ACTION_DUMP_MOST_NS,
                        "how long before the alert's onset, or now; default: 10m"),
        OPTION_DURATION("after", 'a', struct bundle, after_ns, 0, ACTION_DUMP_WAIT_NS,
                        "and how long after it fired, or now, which is waited for; default: 2m"),
        OPTION_TEXT("alert", 0, "FILE", struct bundle, alert, COMPLETE_FILE,
                    "the alert, as programs of rules get it on their standard input; - reads that"),
        OPTION_TEXT("directory", 'o', "DIR", struct bundle, output, COMPLETE_FILE,
                    "of all bundles, which only you may enter; default: bundles, beside the recordings"),
        OPTION_BYTES("keep", 'k', struct bundle, keep_bytes, 1,
                     "of all bundles in DIR: the oldest are removed for it; default: 1GiB"),
        OPTION_DURATION("apart", 0, struct bundle, limits.apart_ns, 0, 0,
                        "the least time after another of the same rule; default for alerts: 2h"),
        OPTION_NUMBER("per-day", 0, uint64_t, struct bundle, limits.per_day, 0, 1000,
                      "at most this many of a rule within 24h; default for alerts: 3"),
        OPTION_CONNECT_ONE(struct bundle, where.endpoint, "the daemon that records, by its publish endpoint"),
        OPTION_TEXT("dir", 'd', "DIR", struct bundle, where.directory, COMPLETE_FILE,
                    "the directory of recordings; no daemon is needed then"),
        OPTIONS_END,
};

const struct command command_bundle = {
        .name = "recording bundle",
        .summary = "keep what was recorded around a moment, with verdict and report",
        .usage = TEXTS("TARGET[~N|@RUN] [OPTION]..."),
        .about = "Makes a directory of what `heapwatchd --record` has of a target around an alert, or up to now: "
                 "run.eventlog (as `heapwatch recording dump` writes it), verdict.json, report.html and, of an alert, "
                 "alert.json. It says where. The action `dump` of rules does this by itself. What it needs of the "
                 "recording stays while it waits, whatever the recorder's budget.",
        .options = options,
        .status =
                "0 made, or not made for the limits, which it says; 2 usage, no such recording, no daemon, or DIR "
                "cannot be used.",
        .examples = TEXTS("heapwatch recording bundle api --before 30m --after 0s",
                          "heapwatch recording bundle api -o ~/bundles"),
        .size = sizeof(struct bundle),
        .defaults = &(const struct bundle){ .before_ns = ACTION_DUMP_BEFORE_NS,
                                            .after_ns = ACTION_DUMP_AFTER_NS,
                                            .keep_bytes = ACTION_DUMP_KEEP_BYTES,
                                            .limits = { NOT_SAID, NOT_SAID } },
        .run = run_bundle,
        .stops = true,
};
