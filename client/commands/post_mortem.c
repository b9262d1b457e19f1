/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post_mortem.c - `heapwatch post-mortem`: how a program ended and what its memory
 * did before, on one screen; from a daemon that has kept it, a log or a
 * recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/answers/answers.h"
#include "client/answers/api/state_json.h"
#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/commands/inspect_subject.h"
#include "client/world/feed/gather.h"
#include "client/world/feed/selection.h"
#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/error.h"
#include "proto/base/utf8.h"
#include "proto/wire/message.h"

/* ------------------------------------------------------------------- print */

enum { WHOLE = 2 * ANSWER_TEXT + ANSWER_MOMENT };

/* -------------------------------------------------------------------- text */

/* A row that begins with its moment is one of a list: that is short. */
static void print_row(FILE *to, const struct world_target *t, const struct account_row *r)
{
        char time[ANSWER_MOMENT], whole[WHOLE];

        if (r->says.text[0])
                (void)answer_moment(time, t, r->says.time_ns);
        else
                (void)hw_duration_text(time, sizeof(time), (double)r->says.time_ns);
        (void)fprintf(to, "%s\n", SAFE_TEXT(2 * WHOLE, answer_whole(whole, sizeof(whole), &r->says, time)));
}

#define CRASH_US UINT64_C(600000000) /* from a crash until its end is known here, at most */

/* The core file of a crash that systemd keeps on this machine; "": none, or not known. */
static const char *core_of(struct coredump *ret, const struct account *a, const struct world_target *t)
{
        const uint64_t since_us =
                t->target && t->target->has_state_since_wall_ns ? t->target->state_since_wall_ns / 1000 : 0;
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        char pid[24];
        struct error unused;

        (void)snprintf(pid, sizeof(pid), "%" PRIu32, run && run->has_pid ? run->pid : 0);
        return a->end == END_BADLY && coredump_find(COREDUMP_DIRECTORY, pid, ret, &unused) &&
                               ret->time_us + CRASH_US > since_us && ret->time_us < since_us + CRASH_US
                       ? ret->path
                       : "";
}

/* -------------------------------------------------------------------- JSON */

static void json_memory(struct json_out *j, const struct world_target *t)
{
        const Hw__Heap *h = t->heap;
        const char *words;
        uint64_t limit = 0;
        bool has_limit = account_limit(t, &limit, &words);

        json_member_open(j, "memory", '{');
        facts_print(j, "liveBytes", t, FACT_LIVE);
        facts_print(j, "maxLiveBytes", t, FACT_LIVE_MAX);
        facts_print(j, "heapBytes", t, FACT_HEAP_SIZE);
        facts_print(j, "rssBytes", t, FACT_RESIDENT);
        json_key(j, "resident");
        if (h && h->resident)
                json_message(j, &h->resident->base, true);
        else
                json_none(j);
        facts_print(j, "cgroupBytes", t, FACT_CGROUP);
        json_known_u64(j, "limitBytes", has_limit, limit);
        json_close(j, '}');
}

static void json_bands(struct json_out *j, const struct world_target *t)
{
        const struct world_band *grown[ACCOUNT_BANDS];
        size_t n = account_bands(t, grown);

        json_member_open(j, "bands", '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_member_text(j, "label", grown[i]->def->label);
                json_member_u64(j, "firstBytes", grown[i]->first_bytes);
                json_member_u64(j, "bytes", grown[i]->bytes);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void json_pauses(struct json_out *j, const struct world_target *t)
{
        json_member_open(j, "pauses", '[');
        for (size_t i = 0; t->gc && i < t->gc->n_last; i++) {
                const Hw__Collection *c = t->gc->last[i];
                json_open(j, '{');
                json_member_u64(j, "endNs", c->end_time_ns);
                json_member_u64(j, c->has_watch_pause_ns ? "watchPauseNs" : "pauseNs",
                                c->has_watch_pause_ns ? c->watch_pause_ns : c->pause_ns);
                json_member_u64(j, "generation", c->generation);
                json_member_bool(j, "major", c->major);
                json_close(j, '}');
        }
        json_close(j, ']');
        facts_print(j, "watchCensuses", t, FACT_WATCH_CENSUSES);
        facts_print(j, "watchPausesNs", t, FACT_WATCH_PAUSES);
        facts_print(j, "watchPauseMaxNs", t, FACT_WATCH_PAUSE_MAX);
}

static void account_json(FILE *to, const struct account *a, const struct world_target *t)
{
        static const char *const words[] = { "runs", "ended", "badly", "unknown" };
        struct json_out out = { .to = to }, *j = &out;
        struct coredump core;

        json_open(j, '{');
        json_member_text(j, "target", t->name);
        json_member_u64(j, "run", t->run);
        json_member_text(j, "end", words[a->end]);
        json_member_text(j, "detail", t->target ? t->target->detail : NULL);
        json_member_u64(j, "lengthNs", world_known_until_ns(t));
        json_memory(j, t);
        json_bands(j, t);
        json_pauses(j, t);
        json_known_u64(j, "lostBytes", t->health != NULL, t->health ? t->health->lost_bytes : 0);
        account_rows_print(j, "rows", a);
        if (core_of(&core, a, t)[0])
                json_member_text(j, "core", core.path);
        json_close(j, '}');
        json_newline(j);
}

/* ----------------------------------------------------------------- command */

struct request {
        const char *what;
        struct selection from; /* of `what` */
        bool json;
};

static const struct option options[] = {
        OPERAND(OPTION_IS_TEXT, "TARGET|FILE", const char *, 1, 1, struct request, what, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_JSON(struct request, json, "text (default), or one object per run"),
        OPTION_CONNECT(struct request, from.endpoints),
        OPTIONS_OF_TREND(struct request, from.judging),
        OPTIONS_END,
};

static int check_request(void *filled)
{
        struct request *r = filled;

        (void)text_list_add(&command_post_mortem, &r->from.operands, r->what);
        return selection_check(&command_post_mortem, &r->from);
}

static int print_target(const struct request *r, const struct world_target *t, bool live)
{
        struct account a;

        account_of(&a, t, live);
        if (r->json)
                account_json(stdout, &a, t);
        else {
                struct coredump core;
                const char *key = "";

                (void)fprintf(stdout, "%s, run %u: ", t->name, t->run);
                print_row(stdout, t, &a.rows[0]);
                if (a.end != END_RUNS && !a.rows[0].says.has_time && t->target && t->target->has_state_since_wall_ns)
                        (void)fprintf(stdout, "  %-7s %s\n", "date", TIME_TEXT(t->target->state_since_wall_ns));
                for (size_t i = 1; i < a.n; i++) {
                        (void)fprintf(stdout, "  %-7s ", strcmp(a.rows[i].key, key) ? a.rows[i].key : "");
                        key = a.rows[i].key;
                        print_row(stdout, t, &a.rows[i]);
                }
                if (core_of(&core, &a, t)[0])
                        (void)fprintf(stdout, "  %-7s %s, for heapwatch why, heap and threads\n", "core", core.path);
        }
        return a.end == END_BADLY ? EXIT_FINDING : EXIT_OK;
}

static int run_post_mortem(void *filled)
{
        const struct request *r = filled;
        struct world *world = world_new(NULL);
        struct error error = { "out of memory" };
        struct feed *feed = world ? selection_open(&r->from, NULL, 0, &error) : NULL;
        int status = EXIT_USAGE;

        if (!feed) {
                command_error(&command_post_mortem, "%s", error.text);
                world_destroy(&world);
                return EXIT_USAGE;
        }
        const enum gather_end gathered =
                gather(feed, &(struct gatherer){ .command = &command_post_mortem, .world = world });
        bool good = gathered != GATHERED_FAILED;
        const struct world_target *t = feed_is_live(feed)     ? world_find(world, r->what)
                                       : world_targets(world) ? world_target(world, 0)
                                                              : NULL;
        if (good && t && t->run)
                status = gather_status(gathered, print_target(r, t, feed_is_live(feed)));
        else if (good && feed_is_live(feed) && !t)
                status = absent_target(&command_post_mortem, feed_endpoint(feed, 0), r->what);
        else if (good)
                command_error(&command_post_mortem, "%s has no run yet", r->what);
        feed_close(&feed);
        world_destroy(&world);
        return status;
}

const struct command command_post_mortem = {
        .name = "post-mortem",
        .summary = "how a program ended, and its memory until then",
        .usage = TEXTS("TARGET [--connect EP]...", "FILE [OPTION]..."),
        .about = "How a target ended, or the last run in a finished eventlog or recording, on one screen: exit status, "
                 "signal or killed for memory, as far as its parent or the kernel says; its memory at the end and the "
                 "limit, since when it grew and where, the bands that grew most, the last "
                 "notes and pauses, and what the stream lost. What is unknown is left out.",
        .options = options,
        .status =
                "0, 1 when it ended badly, 2 when there is nothing to read, or one of several daemons does not answer.",
        .examples = TEXTS("heapwatch post-mortem api", "heapwatch post-mortem recording:api~1"),
        .size = sizeof(struct request),
        .check = check_request,
        .run = run_post_mortem,
        .stops = true,
        .offline = true,
};
