/* SPDX-License-Identifier: BSD-3-Clause */
/* ending.c - what is said when the program has ended. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch/run/run_private.h"
#include "client/launch/run/session.h"
#include "client/world/state/world.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/process.h"
#include "proto/base/run_life.h"

#define SENTENCE 1024
#define NOW_NS   1000000000 /* a census that is not older is one of the end */
#define SEEN_MS  3000       /* for the daemon to notice the end of the log */

#define FIRST_WAIT_MS 2 /* from one question about that to the next */
#define LAST_WAIT_MS  32

#define LAST_BYTES 1024u /* of its output that are shown, */
#define LAST_LINES 5u    /* in so many lines */

static void format_status(const struct session_result *result, char *out, size_t size)
{
        if (WIFSIGNALED(result->wait_status)) {
                const char *name = signal_name(WTERMSIG(result->wait_status));

                snprintf(out, size, "was ended by signal %d%s%s%s", WTERMSIG(result->wait_status), name ? " (SIG" : "",
                         name ? name : "", name ? ")" : "");
        } else
                snprintf(out, size, "ended with status %d", WEXITSTATUS(result->wait_status));
}

/* Why, where its runtime or the kernel says so: ", heap exhausted at -M96m". */
static void add_reason(FILE *out, const Hw__Target *t)
{
        const char *why = t->detail && !strncmp(t->detail, "ended with status", 17) ? strchr(t->detail, ',') : NULL;
        char safe[512];

        if (t->has_oom_killed && t->oom_killed)
                why = ", the kernel killed a process of its control group for memory";
        if (why) {
                hw_terminal_text(safe, sizeof(safe), why);
                fputs(safe, out);
        }
}

static const char *text_of(const Hw__Note *note)
{
        return note != NULL && note->text != NULL && note->text[0] != '\0' ? note->text : NULL;
}

/* What the program said within the time in which growth began; NULL: nothing, or that time is not known so well. */
static const char *text_within(const Hw__Trend *t)
{
        const Hw__Note *notes[] = { t->note_before, t->note_after };

        for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
                if (text_of(notes[i]) && notes[i]->has_time_ns && t->has_onset_error_ns &&
                    sub_abs(notes[i]->time_ns, t->onset_ns) <= t->onset_error_ns)
                        return text_of(notes[i]);
        return NULL;
}

void run_verdict_text(char *out, size_t size, const Hw__Trend *t)
{
        const char *before = text_of(t->note_before), *after = text_of(t->note_after), *within = text_within(t);
        char began[HW_NUMBER_MAX], error[HW_NUMBER_MAX], onset[96 + 2 * HW_NUMBER_MAX] = "";

        if (t->has_onset_ns)
                snprintf(onset, sizeof(onset), "; growth began %s into the run%s%s",
                         hw_duration_text(began, sizeof(began), (double)t->onset_ns),
                         t->has_onset_error_ns ? ", give or take " : "",
                         t->has_onset_error_ns ? hw_duration_text(error, sizeof(error), (double)t->onset_error_ns)
                                               : "");
        if (within) {
                snprintf(out, size, "%s%s; \"%s\" falls within it", t->sentence, onset, within);
                return;
        }
        snprintf(out, size, "%s%s%s%s%s%s%s%s", t->sentence, onset, before ? ", after \"" : "", before ? before : "",
                 before ? "\"" : "", after ? ", before \"" : "", after ? after : "", after ? "\"" : "");
}

bool run_end_is_settled(const Hw__Target *target, bool program_lives)
{
        /* What has not reached the daemon, with its process gone, will never come; a run that it has seen ends soon. */
        return run_has_ended(target) || program_lives ||
               (target->state == HW__TARGET__STATE__STATE_WAITING && target->runs == 0);
}

/*
 * Asks the daemon until it has seen the end of the log, which is on its way: it is asked again soon, then less often.
 * The time is limited only because another program may keep the daemon busy.
 */
static bool await_end(const struct program_run *r, const struct session_result *result, struct world **world)
{
        bool lives = r->from_inside && (result->alone || inside_owner_lives(r->agent)), known = false;
        uint64_t until = clock_mono_ms() + SEEN_MS;

        for (int pause_ms = FIRST_WAIT_MS;; pause_ms = pause_ms < LAST_WAIT_MS ? 2 * pause_ms : pause_ms) {
                known = daemon_read_target(&r->link, r->target, result->uri, world);
                if (!known || run_end_is_settled(world_find(*world, r->target)->target, lives) ||
                    clock_mono_ms() >= until)
                        return known;
                (void)poll(NULL, 0, pause_ms);
        }
}

static void add_bytes(FILE *out, const char *what, uint64_t bytes)
{
        char number[HW_NUMBER_MAX];

        if (bytes != UNKNOWN_U64)
                fprintf(out, "; %s %s", what, hw_bytes_text(number, sizeof(number), (double)bytes));
}

static void add_count(FILE *out, const char *one, const char *many, uint64_t count)
{
        char number[HW_NUMBER_MAX];

        if (count != UNKNOWN_U64)
                fprintf(out, "; %s %s", hw_count_text(number, sizeof(number), count), count == 1 ? one : many);
}

static void add_top_band(FILE *out, const struct world_target *t)
{
        const struct world_band *top;
        char label[256], cut[80], number[HW_NUMBER_MAX];

        if (world_top_bands(t, &top, 1) != 1 || top->bytes == 0 || !top->def->label[0])
                return;
        const uint64_t age_ns = t->census ? sub_sat(world_known_until_ns(t), t->census->time_ns) : 0;
        snprintf(cut, sizeof(cut), "%s", top->def->label);
        hw_terminal_text(label, sizeof(label), cut);
        fputs("; largest band ", out);
        if (age_ns > NOW_NS)
                fprintf(out, "at the last census, %s before the end",
                        hw_duration_text(number, sizeof(number), (double)age_ns));
        else
                fputs("at the end", out);
        fprintf(out, ": %s, %s%s", label, hw_bytes_text(number, sizeof(number), (double)top->bytes),
                (double)top->bytes > facts_get(t, FACT_LIVE_MAX) ? " with what was garbage by then" : "");
}

static void add_facts(FILE *out, const struct world_target *t)
{
        if (!facts_is_known(t, FACT_LIVE_MAX))
                add_bytes(out, "resident at last", facts_get_u64(t, FACT_RESIDENT, UNKNOWN_U64));
        add_bytes(out, "most live", facts_get_u64(t, FACT_LIVE_MAX, UNKNOWN_U64));
        add_bytes(out, "live before its end", facts_get_u64(t, FACT_LIVE, UNKNOWN_U64));
        add_count(out, "collection", "collections", facts_get_u64(t, FACT_COLLECTIONS, t->gc ? 0 : UNKNOWN_U64));
        add_count(out, "heap census", "heap censuses",
                  t->census && t->census->has_number ? t->census->number : UNKNOWN_U64);
        add_top_band(out, t);
        if (facts_get_u64(t, FACT_STREAM_LOST, 0) > 0)
                add_bytes(out, "damaged and skipped:", facts_get_u64(t, FACT_STREAM_LOST, 0));
}

/* Nothing came from inside: what was found below a wrapper, and why the agent is not in it. */
static void add_why_unseen(FILE *out, const struct program_run *r, const struct below *below)
{
        const enum obstacle obstacle = below->pid ? below->obstacle : r->inside.obstacle;
        const char *remedy = obstacle_remedy(obstacle);

        if (!r->inside.wrapper)
                fputs("; it could not be watched from inside (--no-agent is another way)", out);
        else if (obstacle == OBSTACLE_NONE)
                fputs("; no GHC-compiled program that can be watched was found below it", out);
        else
                fprintf(out, "; %s was not watched: %s%s%s", below->pid ? below->program : r->o.program[0],
                        obstacle_reason(obstacle), remedy[0] ? "; " : "", remedy);
}

/* How the program ended and what was seen of it. */
static void add_end(FILE *out, const struct program_run *r, const struct session_result *result, struct world **world)
{
        bool came = !r->from_inside || result->alone || result->claimed || inside_claimed(r->agent);
        char status[64], took[HW_NUMBER_MAX];

        format_status(result, status, sizeof(status));
        fprintf(out, "%s %s after %s%s", r->target, status, hw_duration_text(took, sizeof(took), result->seconds * 1e9),
                result->ended_hung ? ", because it hung" : "");
        if (result->target[0] == '\0' && r->unnamed && !came)
                ; /* nothing was there to be watched */
        else if (result->target[0] == '\0')
                fputs(!r->from_inside ? "; it ended before its process could be watched"
                                      : "; unwatched: the daemon did not take it",
                      out);
        else if (came && await_end(r, result, world)) {
                add_reason(out, world_find(*world, r->target)->target);
                add_facts(out, world_find(*world, r->target));
        } else if (came)
                fputs("; what was seen of it is not known: it was detached, or the daemon does not answer", out);
        if ((result->target[0] != '\0' || r->unnamed) && !came)
                add_why_unseen(out, r, &result->below);
        if (result->left_unserved)
                fputs("; a process that it has forked goes on, unwatched: `heapwatch attach` it", out);
        else if (r->from_inside && !r->o.follow && inside_forked_lives(r->agent) && !inside_owner_lives(r->agent))
                fputs("; a process that it has forked goes on, unwatched: `heapwatch attach` it, or use --follow", out);
}

/* What there is on disk of the run, and what is not. */
static void print_recorded(struct program_run *r, const Hw__Recording *recording)
{
        char number[HW_NUMBER_MAX], why[512], lost[sizeof(why) + 64] = "";

        hw_terminal_text(why, sizeof(why), recording->detail ? recording->detail : "");
        if (recording->lost_bytes > 0)
                snprintf(lost, sizeof(lost), "%s of its eventlog%s%s",
                         hw_bytes_text(number, sizeof(number), (double)recording->lost_bytes), why[0] ? ": " : "", why);
        if (recording->bytes > recording->lost_bytes)
                notices_print(&r->notices, "recorded: heapwatch post-mortem recording:%s%s%s", r->target,
                              lost[0] ? "; not recorded: " : "", lost);
        else if (lost[0])
                notices_print(&r->notices, "not recorded: %s", lost);
}

/* What rose to the end or grows outside of the heap; else live data. */
static Hw__Series told_series(const struct world_target *t)
{
        const Hw__Trends *s = t ? t->trend_state : NULL;

        if (s && s->early && s->early->rising)
                return s->early->series;
        return s && s->growth && s->growth->where == HW__GROWTH__WHERE__WHERE_FOREIGN ? HW__SERIES__SERIES_FOREIGN
                                                                                      : HW__SERIES__SERIES_LIVE;
}

void run_sum_up(struct program_run *r, const struct session_result *result)
{
        struct world *world = NULL;
        char line[SENTENCE] = "", verdict[512], safe[2 * sizeof(verdict)];
        FILE *out = fmemopen(line, sizeof(line), "w");

        if (out) {
                add_end(out, r, result, &world);
                (void)fclose(out);
        }
        notices_print(&r->notices, "%s", line);
        const struct world_target *t = world ? world_find(world, r->target) : NULL;
        const Hw__Series series = told_series(t);
        const Hw__Trend *trend = t ? t->trends[series] : NULL;
        if (trend && trend->sentence) {
                run_verdict_text(verdict, sizeof(verdict), trend);
                hw_terminal_text(safe, sizeof(safe), verdict);
                notices_print(&r->notices, "%s of %s: %s",
                              series == HW__SERIES__SERIES_LIVE  ? "live data"
                              : series == HW__SERIES__SERIES_RSS ? "resident memory"
                                                                 : "foreign memory",
                              r->target, safe);
        }
        if (t && run_has_ended(t->target))
                notices_print(&r->notices, "what was seen of it: heapwatch top %s", r->target);
        if (t && t->health && t->health->recording)
                print_recorded(r, t->health->recording);
        world_destroy(&world);
}

/* The last of the output, which nobody has seen while the screen was there. */
static void print_last_lines(struct program_run *r, off_t size)
{
        char tail[LAST_BYTES + 1], safe[2 * sizeof(tail)];
        const int fd = open(r->output, O_RDONLY | O_CLOEXEC);
        const ssize_t n =
                fd < 0 ? 0 : pread(fd, tail, LAST_BYTES, size > (off_t)LAST_BYTES ? size - (off_t)LAST_BYTES : 0);
        char *from, *rest = NULL;
        unsigned lines = 0;

        if (fd >= 0)
                (void)close(fd);
        tail[n > 0 ? n : 0] = '\0';
        for (from = strchr(tail, '\0'); from > tail; from--)
                if (from[-1] == '\n' && from[0] && ++lines == LAST_LINES)
                        break;
        notices_print(&r->notices, "the last of its output:");
        for (char *line = strtok_r(from, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                hw_terminal_text(safe, sizeof(safe), line);
                notices_print(&r->notices, "  %s", safe);
        }
}

void run_print_output(struct program_run *r)
{
        struct stat st;

        if (fstat(r->output_fd, &st) == 0 && st.st_size > 0) {
                print_last_lines(r, st.st_size);
                notices_print(&r->notices, "the program's output is in %s", r->output);
        } else {
                (void)unlink(r->output);
        }
}
