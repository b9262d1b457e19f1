/* SPDX-License-Identifier: BSD-3-Clause */
/* ending.c - what is said when the program has ended. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/world/state/band_name.h"
#include "client/launch/run/run_private.h"
#include "client/launch/run/session.h"
#include "client/world/state/world.h"
#include "proto/base/number_text.h"
#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/phrase.h"
#include "proto/base/process.h"
#include "proto/base/process_stat.h"
#include "proto/base/run_life.h"
#include "proto/wire/words.h"

#define SENTENCE 1024
#define NOW_NS   1000000000 /* a census that is not older is one of the end */
#define SEEN_MS  3000       /* for the daemon to notice the end of the log */

#define FIRST_WAIT_MS 2 /* from one question about that to the next */
#define LAST_WAIT_MS  32

#define LAST_BYTES 1024u /* of its output that are shown, */
#define LAST_LINES 5u    /* in so many lines */

#define SLOT PHRASE_SLOT

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
static void add_reason(FILE *out, const struct world_target *t)
{
        const Hw__Target *state = t->target;
        char reason[END_REASON_SIZE];
        uint64_t limit;
        const bool is_reserved = world_heap_limit(t, &limit) == HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED;

        fputs(state->has_oom_killed && state->oom_killed
                      ? ", the kernel killed a process of its control group for memory"
                      : end_reason(reason, state->exit_status, state->has_out_of_cpu && state->out_of_cpu, limit,
                                   is_reserved),
              out);
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

static bool put_trend_slot(struct phrase *s, const char *slot, size_t slot_n, const void *of)
{
        const Hw__Trend *t = of;
        const char *within = text_within(t);

        SLOT(sentence, phrase_append_clean(s, t->sentence, SENTENCE))
        SLOT(onset, t->has_onset_ns && phrase_append_duration(s, (double)t->onset_ns))
        SLOT(error, t->has_onset_error_ns && phrase_append_duration(s, (double)t->onset_error_ns))
        SLOT(within, phrase_append_clean(s, within, SENTENCE))
        SLOT(before, !within && phrase_append_clean(s, text_of(t->note_before), SENTENCE))
        SLOT(after, !within && phrase_append_clean(s, text_of(t->note_after), SENTENCE))
        return false;
}

void run_verdict_text(char *out, size_t size, const Hw__Trend *t)
{
        struct phrase s = phrase_begin(out, size, true, put_trend_slot, t);

        (void)phrase_append_text(&s,
                                 "{sentence}[; growth began {onset} into the run[, give or take {error}]]"
                                 "[; \"{within}\" falls within it][, after \"{before}\"][, before \"{after}\"]");
}

bool run_end_is_settled(const Hw__Target *target, bool program_lives)
{
        /* What has not reached the daemon, with its process gone, will never come; a run that it has seen ends soon. */
        return run_has_ended(target) ||
               (program_lives ? target->runs > 0
                              : target->state == HW__TARGET__STATE__STATE_WAITING && target->runs == 0);
}

/* It may, where what ended is a wrapper. */
static bool program_lives(const struct program_run *r, const struct session_result *result)
{
        return r->from_inside &&
               (result->alone ? process_has_program(result->below.pid) : inside_owner_lives(r->agent));
}

bool run_await_end(const struct program_run *r, const struct session_result *result, struct world **ret_world)
{
        const bool lives = program_lives(r, result);
        bool known = false;
        uint64_t until = clock_mono_ms() + SEEN_MS;

        for (int pause_ms = FIRST_WAIT_MS;; pause_ms = pause_ms < LAST_WAIT_MS ? 2 * pause_ms : pause_ms) {
                known = daemon_read_target(&r->link, r->target, result->uri, ret_world);
                if (!known || run_end_is_settled(world_find(*ret_world, r->target)->target, lives) ||
                    clock_mono_ms() >= until)
                        return known;
                (void)poll(NULL, 0, pause_ms);
        }
}

static bool append_fact(struct phrase *s, const struct world_target *t, enum fact id)
{
        return facts_is_known(t, id) && phrase_append_bytes(s, facts_get(t, id));
}

/* As other faces name it: "[Int] (69.9 % of GHC.Types.:)". */
static bool append_band(struct phrase *s, const struct world_target *t, const struct world_band *band)
{
        const char *label = band->def->label;
        char said[CONTENTS_TEXT];

        return phrase_append_clean(s, band_said(said, sizeof(said), t, band->id, label), 160) &&
               phrase_append_clean(s, band_said_of(said, sizeof(said), t, band->id, label), sizeof(said));
}

static bool put_fact_slot(struct phrase *s, const char *slot, size_t slot_n, const void *of)
{
        const struct world_target *t = of;
        const uint64_t age_ns = t->census ? sub_sat(world_known_until_ns(t), t->census->time_ns) : 0;
        const struct world_band *top;

        SLOT(resident, !facts_is_known(t, FACT_LIVE_MAX) && append_fact(s, t, FACT_RESIDENT))
        SLOT(most_live, append_fact(s, t, FACT_LIVE_MAX))
        SLOT(live, append_fact(s, t, FACT_LIVE))
        SLOT(collections,
             (t->gc || facts_is_known(t, FACT_COLLECTIONS)) &&
                     phrase_append_counted(s, facts_get_u64(t, FACT_COLLECTIONS, 0), "collection", "collections"))
        SLOT(censuses, t->census && t->census->has_number &&
                               phrase_append_counted(s, t->census->number, "heap census", "heap censuses"))
        SLOT(if_band, world_top_bands(t, &top, 1) == 1 && top->bytes > 0 && top->def->label[0])
        SLOT(band, world_top_bands(t, &top, 1) == 1 && append_band(s, t, top))
        SLOT(band_bytes, world_top_bands(t, &top, 1) == 1 && phrase_append_bytes(s, (double)top->bytes))
        SLOT(if_garbage, world_top_bands(t, &top, 1) == 1 && (double)top->bytes > facts_get(t, FACT_LIVE_MAX) &&
                                 t->heap && t->heap->live_time_ns >= t->census->time_ns)
        SLOT(if_at_end, age_ns <= NOW_NS)
        SLOT(census_age, age_ns > NOW_NS && phrase_append_duration(s, (double)age_ns))
        SLOT(lost, facts_get_u64(t, FACT_STREAM_LOST, 0) > 0 && append_fact(s, t, FACT_STREAM_LOST))
        return false;
}

void run_facts_text(char *out, size_t size, const struct world_target *t)
{
        struct phrase s = phrase_begin(out, size, true, put_fact_slot, t);

        (void)phrase_append_text(
                &s,
                "[; resident at last {resident}][; most live {most_live}][; live before its end {live}]"
                "[; {collections}][; {censuses}][{if_band}; largest band [{if_at_end}at the end]"
                "[at the last census, {census_age} before the end]: {band}, {band_bytes}[{if_garbage} with what was "
                "garbage by then]]"
                "[; damaged and skipped: {lost}]");
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
        const bool came = !r->from_inside || result->alone || result->claimed || inside_claimed(r->agent);
        const pid_t watched = result->alone ? result->below.pid : r->from_inside ? inside_owner(r->agent) : 0;
        const struct inside_others others =
                r->from_inside && !r->o.follow ? inside_others(r->agent) : (struct inside_others){ .count = 0 };
        const bool goes_on = r->inside.wrapper && came && program_lives(r, result);
        char status[64], facts[SENTENCE];

        format_status(result, status, sizeof(status));
        fprintf(out, "%s%s %s after %s%s",
                watched > 0 && watched != result->program && result->target[0] ? "the command that started " : "",
                r->target, status, DURATION_TEXT(result->seconds * 1e9), result->ended_hung ? ", because it hung" : "");
        if (result->target[0] == '\0' && r->unnamed && !came)
                ; /* nothing was there to be watched */
        else if (result->target[0] == '\0')
                fputs(!r->from_inside ? "; it ended before its process could be watched"
                                      : "; unwatched: the daemon did not take it",
                      out);
        else if (came && run_await_end(r, result, world)) {
                add_reason(out, world_find(*world, r->target));
                run_facts_text(facts, sizeof(facts), world_find(*world, r->target));
                fputs(facts, out);
        } else if (came)
                fputs("; what was seen of it is not known: it was detached, or the daemon does not answer", out);
        if ((result->target[0] != '\0' || r->unnamed) && !came)
                add_why_unseen(out, r, &result->below);
        if (goes_on)
                fprintf(out, "; %s goes on, and is watched", r->target);
        if (others.count > 0) {
                fprintf(out, "; %s", others.name);
                if (others.count > 1)
                        fprintf(out, " and %u more", others.count - 1);
                fprintf(out, ", started as well, %s left unwatched: use --follow", others.count > 1 ? "were" : "was");
        }
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
static Hw__Series find_told_series(const struct world_target *t)
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
        const Hw__Series series = find_told_series(t);
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
