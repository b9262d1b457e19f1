/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <inttypes.h>
#include <stdlib.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"

#define LEAST_PARTS 100u /* of the tree, what has less than one part in so many is left out */
#define INDENT_MOST 60
#define ROWS_MOST   20000u /* of a tree that another program reads */

static const char *const kinds[SAMPLE_KINDS][2] = {
        [SAMPLE_WHOLE] = { "whole", "with their whole stack" },
        [SAMPLE_CUT] = { "cut", "of a stack that is too deep to be copied" },
        [SAMPLE_BROKEN] = { "not_understood", "with a frame that was not understood" },
        [SAMPLE_COLLECTION] = { "collection", "in garbage collection" },
        [SAMPLE_OUTSIDE] = { "outside", "outside of Haskell threads" },
};

/* A tree with the children of each node, the largest first, and its functions. */
struct part {
        const struct stack_profile *profile;
        const struct time_tree *tree;
        uint64_t all_weight;
        uint32_t *ids;   /* all nodes, by parent, then by total */
        uint32_t *first; /* by id of the parent: index of its first child in `ids`; one more at the end */
        struct time_function *functions;
        size_t n_functions;
};

static int by_total(const void *a, const void *b, void *ctx)
{
        const uint32_t x_id = *(const uint32_t *)a, y_id = *(const uint32_t *)b;
        const struct time_node *x = time_tree_nth(ctx, x_id), *y = time_tree_nth(ctx, y_id);

        if (x->parent != y->parent)
                return x->parent < y->parent ? -1 : 1;
        if (x->total_weight != y->total_weight)
                return x->total_weight > y->total_weight ? -1 : 1;
        return (x_id > y_id) - (x_id < y_id);
}

static bool part_make(struct part *t, const struct stack_profile *p, const struct time_tree *tree)
{
        const uint32_t n = time_tree_count(tree);
        uint32_t at = 0;

        *t = (struct part){
                p,    tree, time_tree_weight(tree), calloc(n + 1u, sizeof(uint32_t)), calloc(n + 2u, sizeof(uint32_t)),
                NULL, 0
        };
        t->functions = stack_profile_functions(p, tree, &t->n_functions);
        if (!t->ids || !t->first || (!t->functions && n))
                return false;
        for (uint32_t i = 0; i < n; i++)
                t->ids[i] = i + 1;
        qsort_r(t->ids, n, sizeof(*t->ids), by_total, (void *)tree);
        for (uint32_t parent = 0; parent <= n; parent++) {
                while (at < n && time_tree_nth(tree, t->ids[at])->parent < parent)
                        at++;
                t->first[parent] = at;
        }
        t->first[n + 1] = n;
        return true;
}

static void part_done(struct part *t)
{
        free(t->ids);
        free(t->first);
        free(t->functions);
}

/* ----------------------------------------------------------------------------- text */

static double share_of(uint64_t part, uint64_t whole)
{
        return whole ? (double)part / (double)whole : 0;
}

static void print_name(const struct inspect_subject *s, const struct stack_profile *p, uint32_t name)
{
        char safe[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(safe, sizeof(safe), name_without_package(stack_profile_name(p, name)));
        (void)fprintf(s->request->to, "%s\n", safe);
}

/* Of allocation, what has allocated nothing is no row: samples of it are only counted. */
static bool is_row(const struct part *t, const struct time_function *f)
{
        return f->self_samples && (f->self_weight || !t->profile->by_allocation);
}

/* Of those that wait, the number of threads on average says more than that of samples. */
static const char *number_of(char *text, size_t size, const struct part *t, const struct time_function *f)
{
        if (t->tree == &t->profile->running)
                return hw_count_text(text, size, f->self_samples);
        (void)snprintf(text, size, "%.1f", share_of(f->self_weight, t->profile->waits.ns));
        return text;
}

static void print_children(const struct inspect_subject *s, const struct part *t, uint32_t parent, int depth)
{
        for (uint32_t i = t->first[parent]; i < t->first[parent + 1]; i++) {
                const struct time_node *node = time_tree_nth(t->tree, t->ids[i]);
                if (node->total_weight < t->all_weight / LEAST_PARTS)
                        return;
                (void)fprintf(s->request->to, "%8s  %*s", SHARE_TEXT(share_of(node->total_weight, t->all_weight)),
                              depth < INDENT_MOST ? depth : INDENT_MOST, "");
                print_name(s, t->profile, node->name);
                print_children(s, t, t->ids[i], depth + 1);
        }
}

static void print_part(const struct inspect_subject *s, const struct part *t)
{
        char number[HW_NUMBER_MAX];

        (void)fprintf(s->request->to, "\n%8s  %8s  %8s  FUNCTION\n", "SELF", "TOTAL",
                      t->tree == &t->profile->running ? "SAMPLES" : "THREADS");
        for (size_t i = 0; i < t->n_functions && i < s->request->top && is_row(t, &t->functions[i]); i++) {
                const struct time_function *f = &t->functions[i];
                (void)fprintf(s->request->to, "%8s  %8s  %8s  ", SHARE_TEXT(share_of(f->self_weight, t->all_weight)),
                              SHARE_TEXT(share_of(f->total_weight, t->all_weight)),
                              number_of(number, sizeof(number), t, f));
                print_name(s, t->profile, f->name);
        }
        (void)fprintf(s->request->to, "\n%8s  TOP DOWN, without what has less than 1 %%\n", "TOTAL");
        print_children(s, t, 0, 0);
}

/* ----------------------------------------------------------------------------- rows */

/* The least time of a function with its callers for which there are no more rows than others have to read. */
static uint64_t least_of_rows(const struct time_tree *t)
{
        uint64_t least = 1;
        uint32_t n;

        for (;; least *= 2) {
                n = 0;
                for (uint32_t id = 1; id <= time_tree_count(t); id++)
                        n += time_tree_nth(t, id)->total_weight >= least;
                if (n <= ROWS_MOST)
                        return least;
        }
}

/*
 * "PARENT SELF TOTAL NAME" after an empty line, and before another: the number of the row of the caller, from 1, or 0;
 * and ns, or bytes after a line that says so. No callee has more than its caller, so each row's caller is there.
 */
static bool print_rows(const struct inspect_subject *s, const struct stack_profile *p, const struct time_tree *t)
{
        const bool in_bytes = p->by_allocation && t == &p->running;
        const uint64_t least = least_of_rows(t);
        uint32_t *numbers = calloc(time_tree_count(t) + 1u, sizeof(*numbers)), n = 0;

        if (!numbers)
                return false;
        if (least > 1)
                (void)fprintf(s->request->to, "stacks with less than %s are not shown\n",
                              in_bytes ? BYTES_TEXT(least) : DURATION_TEXT(least));
        (void)fputs(in_bytes ? "\nbytes\n" : "\n", s->request->to);
        for (uint32_t id = 1; id <= time_tree_count(t); id++) {
                const struct time_node *node = time_tree_nth(t, id);
                if (node->total_weight < least)
                        continue;
                numbers[id] = ++n;
                (void)fprintf(s->request->to, "%" PRIu32 " %" PRIu64 " %" PRIu64 " ", numbers[node->parent],
                              node->self_weight, node->total_weight);
                print_name(s, p, node->name);
        }
        (void)fputc('\n', s->request->to);
        free(numbers);
        return true;
}

/* ---------------------------------------------------------------------------- costs */

static void print_samples(FILE *to, const struct time_tree *t)
{
        const char *before = "samples: ";
        char n[HW_NUMBER_MAX];

        for (size_t i = 0; i < SAMPLE_KINDS; i++) {
                if (!t->samples[i])
                        continue;
                (void)fprintf(to, "%s%s %s", before, hw_count_text(n, sizeof(n), t->samples[i]), kinds[i][1]);
                before = ", ";
        }
        if (t->unkept_samples)
                (void)fprintf(to, "; %s were of too many different stacks, and are not shown",
                              hw_count_text(n, sizeof(n), t->unkept_samples));
        if (time_tree_samples(t))
                (void)fputc('\n', to);
}

static void print_allocated(FILE *to, const struct stack_profile *p)
{
        (void)fprintf(to, "%s allocated by Haskell threads, estimated", BYTES_TEXT(time_tree_weight(&p->running)));
        if (p->program_bytes)
                (void)fprintf(to, "; of %s that the runtime counted meanwhile samples stand for %s",
                              BYTES_TEXT(p->program_bytes), SHARE_TEXT(share_of(p->bytes_meanwhile, p->program_bytes)));
        (void)fputc('\n', to);
        if (p->unweighed)
                (void)fprintf(to,
                              "%s sample%s left out, because what the thread allocated next is not known; the next one "
                              "stands for their time\n",
                              COUNT_TEXT(p->unweighed), p->unweighed == 1 ? " is" : "s are");
}

static void print_costs(const struct inspect_subject *s, const struct stack_profile *p)
{
        FILE *to = s->request->to;

        if (p->by_allocation)
                print_allocated(to, p);
        else if (p->program_ns)
                (void)fprintf(to, "CPU time of the program: %s, %s of one processor; samples stand for %s of it\n",
                              DURATION_TEXT(p->program_ns), SHARE_TEXT(share_of(p->program_ns, p->elapsed_ns)),
                              SHARE_TEXT(share_of(time_tree_weight(&p->running), p->program_ns)));
        if (p->waited_ns)
                (void)fprintf(to, "besides, its threads waited %s for a processor\n", DURATION_TEXT(p->waited_ns));
        print_samples(to, &p->running);
        if (p->n_stops)
                (void)fprintf(to, "stops of one thread each: %s (median), %s (99 of 100), %s (longest)\n",
                              DURATION_TEXT(stack_profile_stop_quantile(p, 0.5)),
                              DURATION_TEXT(stack_profile_stop_quantile(p, 0.99)), DURATION_TEXT(p->longest_stop_ns));
        if (p->expired)
                (void)fprintf(to, "%s %s after %s (--max-pause), without a sample\n", COUNT_TEXT(p->expired),
                              p->expired == 1 ? "stop ended by itself" : "stops ended by themselves",
                              DURATION_TEXT(s->request->max_pause_ns));
        if (p->busy)
                (void)fprintf(to, "%s time%s a thread had ended, or another command inspected the program\n",
                              COUNT_TEXT(p->busy), p->busy == 1 ? "" : "s");
}

/* How threads that wait were read; without a stop. */
static void print_readings(FILE *to, const struct part *t)
{
        const struct waiting_profile *w = &t->profile->waits;

        if (!w->readings) {
                (void)fprintf(to, "Haskell threads that wait were not read: %s\n",
                              w->failed ? "garbage was collected whenever they were listed"
                                        : "the profile was too short, or the program has ended");
                return;
        }
        (void)fprintf(to, "waiting: %.1f Haskell threads on average, of %.1f; %s reading%s in %s\n",
                      share_of(t->all_weight, w->ns), w->thread_ns / (double)w->ns, COUNT_TEXT(w->readings),
                      w->readings == 1 ? "" : "s", DURATION_TEXT(w->ns));
        print_samples(to, t->tree);
        if (w->read < w->listed)
                (void)fprintf(to, "%s of %s threads were read, chosen at random\n", COUNT_TEXT(w->read),
                              COUNT_TEXT(w->listed));
        if (w->changed)
                (void)fprintf(to, "%s of %s threads ran while they were read, and are left out\n",
                              COUNT_TEXT(w->changed), COUNT_TEXT(w->read));
        if (w->failed)
                (void)fprintf(to, "%s further reading%s failed, because garbage was collected meanwhile\n",
                              COUNT_TEXT(w->failed), w->failed == 1 ? "" : "s");
}

static bool print_text(const struct inspect_subject *s, const struct part *running, const struct part *waiting)
{
        const struct stack_profile *p = running->profile;
        const uint64_t samples = time_tree_samples(&p->running);
        FILE *to = s->request->to;
        char what[160];

        (void)snprintf(what, sizeof(what), "%s samples in %s%s", COUNT_TEXT(samples), DURATION_TEXT(p->elapsed_ns),
                       p->has_ended        ? ", after which it ended"
                       : p->is_interrupted ? ", then interrupted"
                                           : "");
        head_text(s, what);
        print_costs(s, p);
        if (samples == 0 && p->is_suspended)
                (void)fprintf(to, "a signal has stopped it; `kill -CONT %ld` lets it continue\n", (long)s->pid);
        else if (samples == 0)
                (void)fprintf(to, "it was never seen running: it waits%s\n",
                              p->with_waiting ? "" : "; `heapwatch profile --waiting` shows for what");
        if (s->request->rows && !print_rows(s, p, &p->running))
                return false;
        if (!s->request->rows && samples)
                print_part(s, running);
        if (!p->with_waiting)
                return true;
        if (!s->request->rows)
                (void)fputc('\n', to);
        print_readings(to, waiting);
        if (s->request->rows)
                return print_rows(s, p, &p->waiting);
        if (time_tree_samples(&p->waiting))
                print_part(s, waiting);
        return true;
}

/* ----------------------------------------------------------------------------- JSON */

static void weights_json(struct json_out *j, const struct part *t, uint64_t self, uint64_t total)
{
        if (t->profile->by_allocation) {
                json_member_u64(j, "self_bytes", self);
                json_member_u64(j, "total_bytes", total);
        } else {
                json_member_seconds(j, "self_s", self);
                json_member_seconds(j, "total_s", total);
        }
}

static void functions_json(struct json_out *j, const struct part *t)
{
        json_member_open(j, "functions", '[');
        for (size_t i = 0; i < t->n_functions; i++) {
                const struct time_function *f = &t->functions[i];
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", stack_profile_name(t->profile, f->name));
                json_member_bool(j, "probably", name_is_probable(stack_profile_name(t->profile, f->name)));
                weights_json(j, t, f->self_weight, f->total_weight);
                json_member_u64(j, "self_samples", f->self_samples);
                json_member_u64(j, "total_samples", f->total_samples);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* Outermost first; `parent` is the number of the caller in this list, from 0. */
static void nodes_json(struct json_out *j, const struct part *t)
{
        json_member_open(j, "tree", '[');
        for (uint32_t id = 1; id <= time_tree_count(t->tree); id++) {
                const struct time_node *node = time_tree_nth(t->tree, id);
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", stack_profile_name(t->profile, node->name));
                json_member_bool(j, "probably", name_is_probable(stack_profile_name(t->profile, node->name)));
                if (node->parent)
                        json_member_u64(j, "parent", node->parent - 1);
                weights_json(j, t, node->self_weight, node->total_weight);
                json_member_u64(j, "self_samples", node->self_samples);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void samples_json(struct json_out *j, const struct time_tree *t, size_t n_kinds)
{
        json_member_u64(j, "samples", time_tree_samples(t));
        json_member_open(j, "samples_by_stack", '{');
        for (size_t i = 0; i < n_kinds; i++)
                json_member_u64(j, kinds[i][0], t->samples[i]);
        json_member_u64(j, "not_kept", t->unkept_samples);
        json_close(j, '}');
}

static void waiting_json(struct json_out *j, const struct part *t)
{
        const struct waiting_profile *w = &t->profile->waits;

        json_member_open(j, "waiting", '{');
        json_member_u64(j, "readings", w->readings);
        json_member_u64(j, "readings_failed", w->failed);
        json_member_seconds(j, "read_s", w->ns);
        json_known_double(j, "mean_threads", w->readings > 0, w->ns ? w->thread_ns / (double)w->ns : 0);
        json_known_double(j, "mean_waiting_threads", w->readings > 0, share_of(t->all_weight, w->ns));
        json_member_u64(j, "threads_listed", w->listed);
        json_member_u64(j, "threads_read", w->read);
        json_member_u64(j, "threads_changed", w->changed);
        json_member_seconds(j, "waited_s", t->all_weight);
        samples_json(j, t->tree, SAMPLE_COLLECTION);
        functions_json(j, t);
        nodes_json(j, t);
        json_close(j, '}');
}

static void print_json(const struct inspect_subject *s, const struct part *running, const struct part *waiting)
{
        const struct stack_profile *p = running->profile;
        struct json_out j = { .to = s->request->to };

        json_open(&j, '{');
        head_json(&j, s);
        json_member_seconds(&j, "elapsed_s", p->elapsed_ns);
        json_member_bool(&j, "ended", p->has_ended);
        samples_json(&j, running->tree, SAMPLE_KINDS);
        if (p->by_allocation) {
                json_member_u64(&j, "sampled_bytes", running->all_weight);
                json_member_u64(&j, "samples_not_weighed", p->unweighed);
                json_known_u64(&j, "allocated_bytes", p->program_bytes > 0, p->program_bytes);
                json_known_u64(&j, "sampled_bytes_of_these", p->program_bytes > 0, p->bytes_meanwhile);
        } else {
                json_member_seconds(&j, "sampled_cpu_s", running->all_weight);
        }
        json_known_double(&j, "cpu_s", p->program_ns > 0, (double)p->program_ns / 1e9);
        json_member_seconds(&j, "waited_for_processor_s", p->waited_ns);
        json_member_open(&j, "stops", '{');
        json_member_u64(&j, "n", p->n_stops);
        if (p->n_stops) {
                json_member_seconds(&j, "median_s", stack_profile_stop_quantile(p, 0.5));
                json_member_seconds(&j, "p99_s", stack_profile_stop_quantile(p, 0.99));
                json_member_seconds(&j, "longest_s", p->longest_stop_ns);
        }
        json_member_u64(&j, "expired", p->expired);
        json_close(&j, '}');
        functions_json(&j, running);
        nodes_json(&j, running);
        if (p->with_waiting)
                waiting_json(&j, waiting);
        json_close(&j, '}');
        json_newline(&j);
}

bool show_profile(const struct inspect_subject *s, const struct stack_profile *p)
{
        struct part running, waiting;
        const bool made = part_make(&running, p, &p->running);
        bool good = part_make(&waiting, p, &p->waiting) && made;

        if (good && s->request->json)
                print_json(s, &running, &waiting);
        else if (good)
                good = print_text(s, &running, &waiting);
        part_done(&running);
        part_done(&waiting);
        return good;
}
