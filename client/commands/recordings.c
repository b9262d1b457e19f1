/* SPDX-License-Identifier: BSD-3-Clause */
/* recordings.c - `heapwatch recording`: lists and deletes what the flight recorder has. */
#include "client/cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/feed/locate.h"
#include "proto/base/number_text.h"
#include "proto/base/ckd.h"
#include "proto/base/json_out.h"
#include "client/cli/options.h"
#include "proto/base/utf8.h"
#include "proto/cli/options.h"
#include "proto/eventlog/recording/run_dir.h"

struct recordings {
        struct locate where;
        bool json;
        struct text_list words;
};

static const struct term terms[] = {
        { "list", "[TARGET]", "the recorded runs, oldest first (default)" },
        { "delete", "TARGET[~N|@RUN]",
          "removes a finished run: the newest, RUN by the beginning of its name, or -1 for the one "
          "before the newest" },
        { "dump", "TARGET[~N|@RUN]", "writes a stretch as an eventlog: `heapwatch recording dump --help`" },
        { "bundle", "TARGET",
          "keeps what is around a moment, with verdict and report: `heapwatch recording bundle --help`" },
        { NULL, NULL, NULL },
};

/* ------------------------------------------------------------------- list */

/* `paused`: nothing is recorded for now, and what this loses is written once it resumes. */
static void print_row(const struct recorded_run *r, bool paused)
{
        const bool loses = paused && r->live;
        char detail[2 * RUN_END_DETAIL_BYTES], profiles[32] = "";
        const bool known = r->end.state != RUN_END_UNKNOWN;

        if (r->profiles)
                (void)snprintf(profiles, sizeof(profiles), ", %" PRIu32 " profile%s", r->profiles,
                               r->profiles == 1 ? "" : "s");
        (void)printf("%-20s  %-24s  %10s  %10s  %10s  %s%s%s%s%s%s\n", r->target, r->name,
                     DURATION_TEXT(sub_sat(r->end_ns, r->begin_ns)), BYTES_TEXT(r->bytes),
                     r->lost_bytes ? BYTES_TEXT(r->lost_bytes)
                     : loses       ? "unknown"
                                   : "-",
                     r->live ? paused ? "paused" : "being recorded"
                             : TIME_TEXT(r->end_wall_ns ? r->end_wall_ns : r->begin_wall_ns),
                     known ? ", " : "", run_end_name(r->end.state), r->end.detail[0] ? ": " : "",
                     safe_text(detail, sizeof(detail), r->end.detail), profiles);
}

static void print_json(const struct recorded_run *r)
{
        struct json_out out = { .to = stdout }, *j = &out;

        json_open(j, '{');
        json_member_text(j, "target", r->target);
        json_member_text(j, "run", r->name);
        json_member_bool(j, "live", r->live);
        json_member_u64(j, "bytes", r->bytes);
        json_member_u64(j, "lostBytes", r->lost_bytes);
        json_member_u64(j, "profiles", r->profiles);
        json_member_u64(j, "beginNs", r->begin_ns);
        json_member_u64(j, "endNs", r->end_ns);
        json_member_u64(j, "beginWallNs", r->begin_wall_ns);
        json_key(j, "endWallNs");
        if (r->end_wall_ns)
                json_u64(j, r->end_wall_ns);
        else
                json_none(j);
        json_key(j, "end");
        if (r->end.state == RUN_END_UNKNOWN) {
                json_none(j);
        } else {
                json_open(j, '{');
                json_member_text(j, "state", run_end_name(r->end.state));
                json_member_text(j, "detail", r->end.detail);
                json_close(j, '}');
        }
        json_close(j, '}');
        json_newline(j);
}

/* Whether recording is paused; says why. */
static bool report_pause(const struct locate *where)
{
        char why[LOCATE_PAUSED_MAX];

        if (!locate_paused(where, why))
                return false;
        command_error(&command_recordings, "recording is paused: %s; it resumes by itself",
                      SAFE_TEXT(LOCATE_PAUSED_MAX, why));
        return true;
}

static int list_recordings(const struct recordings *c, const char *directory, const char *target, bool paused)
{
        struct recorded_run *runs;
        struct error error;
        int n = recorded_runs(directory, target, &runs, &error);

        if (n < 0)
                return command_error(&command_recordings, "%s", error.text);
        if (n > 0 && !c->json)
                (void)printf("%-20s  %-24s  %10s  %10s  %10s  %s\n", "TARGET", "RUN", "LENGTH", "ON DISK", "LOST",
                             "UNTIL");
        for (int i = 0; i < n; i++) {
                if (c->json)
                        print_json(&runs[i]);
                else
                        print_row(&runs[i], paused);
        }
        free(runs);
        if (n == 0 && !c->json)
                (void)fprintf(stderr, "heapwatch recording: nothing%s%s is recorded in %s yet\n", target ? " of " : "",
                              target ? target : "", directory);
        return EXIT_OK;
}

/* ----------------------------------------------------------------- delete */

static int delete_run(const char *directory, const char *which)
{
        struct recorded_run run;
        struct error error;

        if (recorded_run_find(directory, which, &run, &error) != 0)
                return command_error(&command_recordings, "%s", error.text);
        int r = recorded_run_delete(directory, &run);
        if (r == 0)
                (void)printf("%s@%s removed\n", run.target, run.name);
        else if (r == -EBUSY)
                command_error(&command_recordings, "%s@%s is being recorded; `heapwatch remove %s` ends that",
                              run.target, run.name, run.target);
        else
                command_error(&command_recordings, "%s@%s: %s", run.target, run.name, strerror(-r));
        return r == 0 ? EXIT_OK : EXIT_FINDING;
}

/* ---------------------------------------------------------------- command */

static int run_recordings(void *filled)
{
        const struct recordings *c = filled;
        const char *verb = c->words.n ? c->words.items[0] : "list";
        char directory[RECORDED_PATH_MAX];
        struct error error;
        bool is_delete = !strcmp(verb, "delete");

        if (!is_delete && strcmp(verb, "list") != 0)
                return command_unknown_verb(&command_recordings, verb);
        if (is_delete ? c->words.n != 2 : c->words.n > 2)
                return command_verb_usage(&command_recordings, verb);
        if (!locate_directory(&c->where, directory, &error))
                return command_error(&command_recordings, "%s", error.text);
        if (is_delete)
                return delete_run(directory, c->words.items[1]);
        return list_recordings(c, directory, c->words.n > 1 ? c->words.items[1] : NULL, report_pause(&c->where));
}

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "VERB", struct text_list, 0, 2, struct recordings, words, COMPLETE_VERB, NULL),
        OPTION_CONNECT_ONE(struct recordings, where.endpoint, "the daemon that records, by its publish endpoint"),
        OPTION_TEXT("dir", 'd', "DIR", struct recordings, where.directory, COMPLETE_FILE,
                    "the directory of recordings; no daemon is needed then"),
        OPTION_JSON(struct recordings, json, "json: each run as a line of JSON"),
        OPTIONS_END,
};

const struct command command_recordings = {
        .name = "recording",
        .summary = "what the flight recorder has kept",
        .usage = TEXTS("[OPTION]... [VERB [ARGUMENT]]"),
        .about = "Lists the runs that `heapwatchd --record DIR` has kept, with how they ended. Every command that "
                 "takes a finished log takes recording:TARGET[~N|@RUN] too.",
        .sections = (const struct help_section[]){ { "Verbs", terms }, { NULL, NULL } },
        .options = options,
        .verbs = terms,
        .status = "0 done, 1 it could not be removed, 2 usage, no such run, or no daemon answered.",
        .examples = TEXTS("heapwatch recording", "heapwatch report recording:api~1 -o yesterday.html"),
        .size = sizeof(struct recordings),
        .run = run_recordings,
};
