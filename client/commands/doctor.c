/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heapwatch doctor - the command: finds out what it was given (program, log,
 * target of a running daemon), collects rows, prints them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/launch/attach/processes.h"
#include "client/cli/absent.h"
#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/commands/doctor.h"
#include "client/world/feed/feed.h"
#include "client/launch/program/agent_fit.h"
#include "client/launch/program/hidden_symbols.h"
#include "client/launch/program/inquire.h"
#include "client/launch/program/process_uri.h"
#include "heapwatch/requester.h"
#include "heapwatch/wire.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/utf8.h"
#include "proto/eventlog/advice.h"

/* ------------------------------------------------------------------- a log */

/*
 * What a log or a live target showed, collected from messages, as rows of features.h.
 *
 * DESIGN: the daemon judges what a stream lacks (health.advice); here only what came is recorded, so the rows say what
 * was seen and the advice says what to do.
 */

#define STREAM_ADVICE_MAX 32

struct stream {
        bool any;       /* there was a target */
        bool kinds[32]; /* by Hw__Kind: a message with content came */
        bool ended, crashed;
        bool cut;          /* a log without its end: what has not come may not have been written yet */
        bool profiled;     /* a heap profile is on, as the log or the program's options tell */
        bool outside;      /* its memory is read: what else there is, no flag of a log brings */
        bool process_only; /* a process alone: there is no log whose contents could be missing */
        char process_only_reason[512];
        char detail[256]; /* of the target's state */
        char program[128], version[32], way[64];
        struct {
                uint32_t code; /* enum hw_advice */
                char text[512];
        } advice[STREAM_ADVICE_MAX];
        size_t n_advice;
        uint64_t events;
};

static void copy_cut_off(char *out, size_t size, const char *text)
{
        snprintf(out, size, "%s", text != NULL ? text : "");
}

static void check_target_state(struct stream *s, const Hw__Target *t)
{
        s->any = true;
        s->ended = t->state == HW__TARGET__STATE__STATE_ENDED || t->state == HW__TARGET__STATE__STATE_FAILED;
        s->outside = process_uri_is_outside(t->uri);
        s->crashed = t->state == HW__TARGET__STATE__STATE_CRASHED;
        s->cut = t->state == HW__TARGET__STATE__STATE_LOST || s->crashed;
        copy_cut_off(s->detail, sizeof(s->detail), t->detail);
        copy_cut_off(s->process_only_reason, sizeof(s->process_only_reason), t->process_only_reason);
        if (t->run_info == NULL)
                return;
        s->process_only = t->run_info->process_only;
        copy_cut_off(s->program, sizeof(s->program), t->run_info->program);
        copy_cut_off(s->version, sizeof(s->version), t->run_info->ghc_version);
        s->profiled = t->run_info->has_breakdown && t->run_info->breakdown;
        for (size_t i = 0; i < t->run_info->n_rts_options && !s->profiled; i++)
                s->profiled = !strncmp(t->run_info->rts_options[i], "-h", 2);
        copy_cut_off(s->way, sizeof(s->way), t->run_info->rts_way);
}

/* Whether the message has content: an empty state does not count as seen. */
static bool has_content(const Hw__Update *u)
{
        switch (u->body_case) {
        case HW__UPDATE__BODY_HEAP:
                return u->heap->has_heap_size_bytes || u->heap->has_live_bytes || u->heap->has_allocated_bytes;
        case HW__UPDATE__BODY_GC:
                return u->gc->n_generations > 0;
        case HW__UPDATE__BODY_CENSUS:
                return u->census->n_band > 0;
        case HW__UPDATE__BODY_NOTES:
                return u->notes->n_notes > 0;
        case HW__UPDATE__BODY_PROFILE:
                return u->profile->n_stacks > 0;
        case HW__UPDATE__BODY_TICKY:
                return u->ticky->n_counters > 0;
        case HW__UPDATE__BODY_SCHED:
                return u->sched->has_threads_created;
        default:
                return true;
        }
}

/* Takes one update. */
static void stream_add(struct stream *s, const Hw__Update *update)
{
        Hw__Kind kind = hw_update_kind(update);

        if ((size_t)kind < ARRAY_SIZE(s->kinds) && has_content(update))
                s->kinds[kind] = true;
        if (update->body_case == HW__UPDATE__BODY_TARGET_STATE)
                check_target_state(s, update->target_state);
        if (update->body_case != HW__UPDATE__BODY_HEALTH)
                return;
        const Hw__Health *h = update->health;
        s->events = h->events;
        s->n_advice = 0;
        for (size_t i = 0; i < h->n_advice && i < STREAM_ADVICE_MAX; i++) {
                s->advice[s->n_advice].code = h->advice[i]->code;
                copy_cut_off(s->advice[s->n_advice++].text, sizeof(s->advice[0].text), h->advice[i]->text);
        }
}

/* A log that was cut off so early that it cannot show what the program was told to log. */
static bool is_cut_early(const struct stream *s)
{
        return s->cut && (!s->program[0] || !s->kinds[HW__KIND__KIND_GC]);
}

/* What to add for something that has not been seen. */
static const char *remedy_for(const struct stream *s, Hw__Kind kind, const char *add)
{
        if (s->events == 0)
                return "not known: no event has come yet";
        if (kind == HW__KIND__KIND_CENSUS && s->profiled)
                return s->cut     ? "nothing: the heap profile was on; the log is cut off before a census"
                       : s->ended ? "nothing: the heap profile was on; the run ended before a census"
                                  : "nothing: the heap profile is on; no census has come yet";
        if (is_cut_early(s))
                return "not known: the log is cut off before what would show it";
        for (size_t i = 0; i < s->n_advice; i++)
                if (kind == HW__KIND__KIND_CENSUS && s->advice[i].code == HW_ADVICE_PROFILE_REFUSED)
                        return "nothing with this collector, which refuses a heap profile";
        return add;
}

/* Rows for everything, whether it appeared or not. */
static void features_of_stream(struct features *f, const struct stream *s)
{
        static const struct {
                const char *name;
                Hw__Kind kind;
                bool needed;
                const char *add;
        } rows[] = {
                { "heap size, allocation, live bytes", HW__KIND__KIND_HEAP, true, "+RTS -l" },
                { "collections and pauses", HW__KIND__KIND_GC, true, "+RTS -l" },
                { "heap bands", HW__KIND__KIND_CENSUS, true, "+RTS -l -hT -i1" },
                { "messages and markers", HW__KIND__KIND_NOTE, false,
                  "traceEvent, traceMarker, -eventlog (before GHC 9.4) and +RTS -l" },
                { "threads and capabilities", HW__KIND__KIND_SCHED, false, "-eventlog (before GHC 9.4) and +RTS -l" },
                { "time profile", HW__KIND__KIND_PROFILE, false, "-prof -threaded and +RTS -l -p" },
                { "ticky counters", HW__KIND__KIND_TICKY, false, "-ticky (not -threaded) and +RTS -lT" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                bool seen = s->kinds[rows[i].kind];
                features_add(f, rows[i].name, seen, rows[i].needed,
                             seen ? "" : remedy_for(s, rows[i].kind, rows[i].add));
        }
}

/* ------------------------------------------------------------------ doctor */

#define FILE_URI       "file:"
#define REQUEST_MS     2000
#define LOG_SILENCE_MS 60000 /* a log's reader that is silent this long has failed */

struct subject {
        const char *what; /* "program", "log", "target" */
        const char *name;
        const struct rtsinfo *info;  /* PROGRAM */
        bool ghcrts_only;            /* PROGRAM: it accepts GHCRTS, but not +RTS */
        const struct agent_fit *fit; /* PROGRAM: whether the agent can watch it */
        bool flags;                  /* PROGRAM: the table also when it needs none of it */
        const struct stream *stream; /* LOG, SOURCE */
};

/* ---------------------------------------------------------------- printing */

static void print_obstacle(const char *command, enum obstacle obstacle, const char *why)
{
        const char *remedy = obstacle_remedy(obstacle);

        printf("%s: not watched from inside: %s%s.\n", command, why,
               obstacle == OBSTACLE_NOT_GHC ? ""
                                            : "; from outside where its memory can be read, or else only its process");
        if (remedy[0])
                printf("To see all of it, %s.\n", remedy);
}

static void print_inside(enum obstacle obstacle)
{
        if (obstacle == OBSTACLE_NONE) {
                puts(obstacle_can_inject()
                             ? "heapwatch run, heapwatch attach: watched from inside as it is, with no flag."
                             : "heapwatch run: watched from inside as it is, with no flag; heapwatch attach: from "
                               "outside on this machine.");
                return;
        }
        print_obstacle("heapwatch run, heapwatch attach", obstacle, obstacle_reason(obstacle));
}

/* Whether the table has something to add: what the agent shows needs no flag. */
static bool wants_features(const struct subject *p)
{
        if (p->stream && (p->stream->process_only || p->stream->outside))
                return false;
        return !p->fit || p->flags || p->fit->obstacle != OBSTACLE_NONE;
}

static void print_text(const struct subject *p, const struct features *f)
{
        if (p->info != NULL) {
                printf("%s: GHC %s, runtime %s%s%s\n", p->name, p->info->version, p->info->way,
                       p->info->with_rtsopts[0] ? ", linked with the options " : "",
                       SAFE_TEXT(768, p->info->with_rtsopts));
        }
        if (p->fit)
                print_inside(p->fit->obstacle);
        if (p->fit && p->fit->obstacle == OBSTACLE_NONE && p->info && !p->info->eventlog)
                puts("Its threads, messages and markers are not known then: before GHC 9.4 they need -eventlog when it "
                     "is linked.");
        if (p->fit && wants_features(p))
                puts("By its own eventlog, with flags of its runtime:");
        if (p->stream != NULL) {
                printf("%s: program %s, GHC %s, runtime %s", p->name,
                       p->stream->program[0] ? SAFE_TEXT(768, p->stream->program) : "unknown",
                       p->stream->version[0] ? p->stream->version : "unknown",
                       p->stream->way[0] ? p->stream->way : "unknown");
                printf("%s%s\n", p->stream->detail[0] ? "; " : "", SAFE_TEXT(768, p->stream->detail));
        }
        if (p->stream && p->stream->process_only) {
                const bool has_reason = p->stream->process_only_reason[0] != '\0';
                printf("Only its process is watched, not its heap%s%s\n", has_reason ? ": " : "",
                       SAFE_TEXT(768, p->stream->process_only_reason));
                for (size_t i = 0; !has_reason && i < p->stream->n_advice; i++)
                        printf("- %s\n", SAFE_TEXT(768, p->stream->advice[i].text));
        } else if (p->stream && p->stream->outside)
                puts("Watched from outside: live data, heap size, allocation, numbers of collections and threads, and "
                     "bands are read from its memory (docs/INSIDE.md). Pauses and messages are not known.");
        if (!wants_features(p))
                return;
        features_print(f);
        if (p->ghcrts_only)
                puts("\n"
                     "- It was linked with -rtsopts=ignore, so it does not accept +RTS: give these flags in the "
                     "variable GHCRTS, or link it with -rtsopts.");
        for (size_t i = 0; p->stream != NULL && i < p->stream->n_advice; i++)
                printf("%s- %s\n", i == 0 ? "\n" : "", SAFE_TEXT(768, p->stream->advice[i].text));
}

static void print_json(const struct subject *p, const struct features *f)
{
        struct json_out j = { .to = stdout };

        json_open(&j, '{');
        json_member_text(&j, p->what, p->name);
        if (!p->info)
                json_member_text(&j, "program", p->stream->program);
        json_member_text(&j, "ghcVersion", p->info ? p->info->version : p->stream->version);
        json_member_text(&j, "rtsWay", p->info ? p->info->way : p->stream->way);
        if (!p->info) {
                json_member_open(&j, "advice", '[');
                for (size_t i = 0; i < p->stream->n_advice; i++)
                        json_text(&j, p->stream->advice[i].text);
                json_close(&j, ']');
        }
        if (p->info) {
                json_member_text(&j, "withRtsopts", p->info->with_rtsopts);
                json_member_bool(&j, "hearsRtsArguments", !p->ghcrts_only);
        }
        if (p->fit) {
                json_member_bool(&j, "inside", p->fit->obstacle == OBSTACLE_NONE);
                json_member_text(&j, "obstacle", obstacle_reason(p->fit->obstacle));
                json_member_text(&j, "remedy", obstacle_remedy(p->fit->obstacle));
        }
        json_member_bool(&j, "complete", features_complete(f));
        json_key(&j, "features");
        features_put_json(&j, f);
        json_close(&j, '}');
        putchar('\n');
}

static int report_program(const struct subject *p, const struct features *f, bool json)
{
        const bool inside = p->fit && p->fit->obstacle == OBSTACLE_NONE;
        const bool well = inside || (features_complete(f) && (p->stream == NULL || p->stream->n_advice == 0));

        if (json)
                print_json(p, f);
        else
                print_text(p, f);
        return well ? EXIT_OK : EXIT_FINDING;
}

/* ---------------------------------------------------------------- subjects */

static int examine_program(const char *path, bool json, bool flags)
{
        struct features f = { .n = 0 };
        struct rtsinfo info;
        struct agent_fit fit;
        struct error error;

        (void)agent_fit_check(path, &fit, NULL); /* what cannot be read is not GHC's, and inquire_program() says more */
        free(hidden_symbols_find(path, &fit));
        switch (inquire_program(path, &info, &error)) {
        case INQUIRY_OK:
                break;
        case INQUIRY_NO_RTSOPTS:
        case INQUIRY_IGNORED:
                if (!json)
                        print_inside(fit.obstacle);
                if (fit.obstacle != OBSTACLE_NONE || flags || json)
                        printf("%s\n", error.text);
                return fit.obstacle == OBSTACLE_NONE ? EXIT_OK : EXIT_FINDING;
        default:
                return command_error(&command_doctor, "%s", error.text);
        }
        features_of_program(&f, path, &info, &fit);
        return report_program(&(struct subject){ .what = "executable",
                                                 .name = path,
                                                 .info = &info,
                                                 .ghcrts_only = !inquire_accepts_arguments(path),
                                                 .fit = &fit,
                                                 .flags = flags },
                              &f, json);
}

static int examine_log(const char *path, bool json)
{
        struct features f = { .n = 0 };
        struct stream s = { .any = false };
        const Hw__Update *update;
        struct error error;
        enum feed_event event;
        struct feed *feed = feed_files(&path, 1, NULL, &error);

        if (feed == NULL)
                return command_error(&command_doctor, "%s", error.text);
        do {
                event = feed_next(feed, LOG_SILENCE_MS, &update);
                if (event == FEED_UPDATE)
                        stream_add(&s, update);
        } while (event != FEED_END && event != FEED_FAILED && event != FEED_NOTHING);
        bool whole = event == FEED_END;
        if (!whole)
                command_error(&command_doctor, "%s%s", event == FEED_FAILED ? "" : path,
                              event == FEED_FAILED ? feed_error(feed) : ": its reader does not answer");
        feed_close(&feed);
        if (!whole)
                return EXIT_USAGE;
        if (s.events == 0)
                return command_error(&command_doctor, "%s contains no events of an eventlog%s%s", path,
                                     s.detail[0] != '\0' ? ": " : "", s.detail);
        if (is_cut_early(&s)) { /* what is said to be missing may have come in the part that the log lacks */
                size_t n = 0;
                for (size_t i = 0; i < s.n_advice; i++)
                        if (s.advice[i].code != HW_ADVICE_NO_GC_EVENTS &&
                            s.advice[i].code != HW_ADVICE_NO_HEAP_PROFILE &&
                            s.advice[i].code != HW_ADVICE_PROFILE_REFUSED)
                                s.advice[n++] = s.advice[i];
                s.n_advice = n;
        }
        features_of_stream(&f, &s);
        return report_program(&(struct subject){ .what = "log", .name = path, .stream = &s }, &f, json);
}

struct search {
        const char *wanted; /* name or URI */
        char name[96];      /* found; "" */
};

static void on_status(void *ctx, const Hw__Reply *reply)
{
        struct search *search = ctx;

        if (reply->what_case != HW__REPLY__WHAT_STATUS)
                return;
        for (size_t i = 0; i < reply->status->n_targets; i++) {
                const Hw__Update *u = reply->status->targets[i];
                if (u->target == NULL)
                        continue;
                bool by_uri = u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->uri != NULL &&
                              !strcmp(u->target_state->uri, search->wanted);
                if (by_uri || !strcmp(u->target, search->wanted))
                        snprintf(search->name, sizeof(search->name), "%s", u->target);
        }
}

static void on_snapshot(void *ctx, const Hw__Reply *reply)
{
        if (reply->what_case == HW__REPLY__WHAT_UPDATE)
                stream_add(ctx, reply->update);
}

/* Sends a request to the user's own daemon. False when it does not answer. */
static bool send_request(Hw__Request *request, void (*each)(void *ctx, const Hw__Reply *reply), void *ctx)
{
        char publish[512], endpoint[512];

        return request && hw_default_endpoints(publish, endpoint, sizeof(publish)) == 0 &&
               !absent_for_good(publish, NULL) && !absent_at_once(publish) &&
               hw_request(publish, request, REQUEST_MS, each, ctx) == 0;
}

static bool is_in_container(pid_t pid)
{
        char path[64];
        struct stat its, ours;

        (void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
        return stat(path, &its) == 0 && stat("/proc/self/ns/pid", &ours) == 0 && its.st_ino != ours.st_ino;
}

static void print_process(const struct ghc_process *p)
{
        char command[64];

        (void)snprintf(command, sizeof(command), "heapwatch attach %d", (int)p->pid);
        printf("%s: process %d%s\n", p->name, (int)p->pid,
               is_in_container(p->pid) ? ", in a container, which has another number for it: this one is to be given"
                                       : "");
        if (p->agent || p->obstacle == OBSTACLE_NONE)
                printf("%s: watched from inside as it is, with no flag.\n", command);
        else
                print_obstacle(command, p->obstacle, p->why.text);
}

static void put_process(const struct ghc_process *p)
{
        const bool inside = p->agent || p->obstacle == OBSTACLE_NONE;
        struct json_out j = { .to = stdout };

        json_open(&j, '{');
        json_member_u64(&j, "process", (uint64_t)p->pid);
        json_member_text(&j, "program", p->name);
        json_member_bool(&j, "container", is_in_container(p->pid));
        json_member_bool(&j, "inside", inside);
        json_member_text(&j, "obstacle", inside ? "" : p->why.text);
        json_member_text(&j, "remedy", inside ? "" : obstacle_remedy(p->obstacle));
        json_close(&j, '}');
        json_newline(&j);
}

/* One that runs: what `attach` would do. It is not asked for its options, as that would run it here. */
static int examine_process(const char *wanted, bool json)
{
        struct ghc_process p;
        struct error error;

        if (!process_find(wanted, &p, &error))
                return command_error(&command_doctor, "%s", error.text);
        process_reveal(&p);
        (json ? put_process : print_process)(&p);
        free(p.symbols);
        return p.agent || p.obstacle == OBSTACLE_NONE ? EXIT_OK : EXIT_FINDING;
}

static int examine_target(const char *wanted, bool json)
{
        Hw__Request *status = hw_request_new(HW__REQUEST__WHAT_STATUS);
        struct search search = { .wanted = wanted };
        struct features f = { .n = 0 };
        struct stream s = { .any = false };
        bool answered = send_request(status, on_status, &search);

        hw_request_destroy(&status);
        if (search.name[0] == '\0' && wanted[strspn(wanted, "0123456789")] == '\0')
                return examine_process(wanted, json);
        if (!answered)
                return command_error(
                        &command_doctor,
                        "%s is not a file, and no daemon answers that could watch it; start one with `heapwatchd %s`, "
                        "or the program itself with `heapwatch run`, and try again",
                        wanted, wanted);
        if (search.name[0] == '\0')
                return command_error(&command_doctor,
                                     "%s is neither a file nor a target of the daemon: `heapwatch "
                                     "status` lists these, `heapwatch add %s` adds a source",
                                     wanted, wanted);
        Hw__Request *snapshot = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        answered = snapshot && hw_request_add_target(snapshot->snapshot, search.name) == 0 &&
                   send_request(snapshot, on_snapshot, &s);
        hw_request_destroy(&snapshot);
        if (!answered || !s.any)
                return command_error(&command_doctor, "the daemon does not report %s", search.name);
        features_of_stream(&f, &s);
        return report_program(&(struct subject){ .what = "target", .name = search.name, .stream = &s }, &f, json);
}

/* Whether the file is an executable program rather than a log. */
static bool is_program(const char *path)
{
        struct stat st;
        char begin[4] = { 0 };
        FILE *file = fopen(path, "re");

        if (file == NULL)
                return false;
        size_t n = fread(begin, 1, sizeof(begin), file);
        (void)fclose(file);
        return stat(path, &st) == 0 && (st.st_mode & 0111) != 0 &&
               ((n == 4 && !memcmp(begin, "\177ELF", 4)) || (n >= 2 && !memcmp(begin, "#!", 2)));
}

struct request {
        const char *what;
        bool json, flags, systemd, patch;
};

static int run_doctor(void *filled)
{
        const struct request *r = filled;
        const char *what = r->what;
        struct stat st;
        char path[4096];

        if (r->systemd)
                return doctor_unit(what);
        if (stat(what, &st) == 0 && S_ISDIR(st.st_mode))
                return doctor_project(what, r->json, r->patch);
        if (r->patch)
                return command_error(&command_doctor, "--patch is for the directory of a Haskell project; '%s' is none",
                                     what);
        if (!strncmp(what, FILE_URI, strlen(FILE_URI)) && stat(what + strlen(FILE_URI), &st) == 0)
                what += strlen(FILE_URI);
        if (stat(what, &st) == 0 && S_ISREG(st.st_mode))
                return is_program(what) ? examine_program(what, r->json, r->flags) : examine_log(what, r->json);
        if (strchr(what, '/') == NULL && inquire_find(what, path, sizeof(path)))
                return examine_program(path, r->json, r->flags);
        return examine_target(what, r->json);
}

static const struct option options[] = {
        OPERAND_TEXT("PROGRAM|PID|DIRECTORY|LOG|SOURCE|UNIT", struct request, what, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_FLAG("flags", 0, struct request, flags,
                    "of a program that is watched as it is, also what its own eventlog shows with flags"),
        OPTION_FLAG("systemd", 0, struct request, systemd,
                    "print the drop-in that puts the agent before the service UNIT, and what to do with it"),
        OPTION_FLAG("patch", 0, struct request, patch,
                    "of a DIRECTORY: print what is needed as a patch, for `patch -p1` or `git apply` in it; no file is "
                    "changed. Ends with 1 if something needed is left to you, which is then on standard error"),
        OPTION_JSON(struct request, json, "for people (default), or as one JSON object"),
        OPTIONS_END,
};

static const struct help_section sections[] = {
        { "What it can examine",
          (const struct term[]){
                  { "PROGRAM", NULL,
                    "an executable made by GHC: it is asked through its +RTS --info, its main is not run" },
                  { "PID", NULL, "a program that runs, in a container, too: what `heapwatch attach` would do" },
                  { "DIRECTORY", NULL,
                    "of a Haskell project: which lines to add to its .cabal files, package.yaml, cabal.project or "
                    "stack.yaml, and why" },
                  { "LOG", NULL, "an eventlog file, as far as it goes" },
                  { "SOURCE", NULL, "a target of the running daemon, by its name or URI" },
                  { NULL, NULL, NULL },
          } },
        { NULL, NULL },
};

const struct command command_doctor = {
        .name = "doctor",
        .summary = "say what can be seen of a program and which flags to add",
        .usage = TEXTS("[OPTION]... PROGRAM|PID|DIRECTORY|LOG|SOURCE", "--systemd UNIT"),
        .about = "Says what can and cannot be seen of a program, why not, and what to do: how to build it, or which "
                 "flags to add.",
        .sections = sections,
        .options = options,
        .status = "0 all that matters is visible, 1 something is missing, 2 bad input.",
        .examples = TEXTS("heapwatch doctor ./my-server", "heapwatch doctor .",
                          "heapwatch doctor . --patch | git apply", "heapwatch doctor --systemd api.service"),
        .size = sizeof(struct request),
        .run = run_doctor,
};
