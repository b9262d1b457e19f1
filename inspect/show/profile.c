/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "heapwatch/text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/head.h"
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

/* The children of each node, the largest first. */
struct tree {
        const struct cpu_profile *profile;
        uint32_t *ids;   /* all nodes, by parent, then by total */
        uint32_t *first; /* by id of the parent: index of its first child in `ids`; one more at the end */
};

static int by_total(const void *a, const void *b, void *ctx)
{
        const uint32_t x_id = *(const uint32_t *)a, y_id = *(const uint32_t *)b;
        const struct cpu_profile_node *x = cpu_profile_nth(ctx, x_id), *y = cpu_profile_nth(ctx, y_id);

        if (x->parent != y->parent)
                return x->parent < y->parent ? -1 : 1;
        if (x->total_ns != y->total_ns)
                return x->total_ns > y->total_ns ? -1 : 1;
        return (x_id > y_id) - (x_id < y_id);
}

static bool tree_make(struct tree *t, const struct cpu_profile *p)
{
        const uint32_t n = cpu_profile_count(p);
        uint32_t at = 0;

        *t = (struct tree){ p, calloc(n + 1u, sizeof(uint32_t)), calloc(n + 2u, sizeof(uint32_t)) };
        if (!t->ids || !t->first)
                return false;
        for (uint32_t i = 0; i < n; i++)
                t->ids[i] = i + 1;
        qsort_r(t->ids, n, sizeof(*t->ids), by_total, (void *)p);
        for (uint32_t parent = 0; parent <= n; parent++) {
                while (at < n && cpu_profile_nth(p, t->ids[at])->parent < parent)
                        at++;
                t->first[parent] = at;
        }
        t->first[n + 1] = n;
        return true;
}

static void tree_done(struct tree *t)
{
        free(t->ids);
        free(t->first);
}

/* ----------------------------------------------------------------------------- text */

static double share(uint64_t part, uint64_t whole)
{
        return whole ? (double)part / (double)whole : 0;
}

static void print_name(const struct inspect_subject *s, const struct cpu_profile *p, uint32_t name)
{
        char safe[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(safe, sizeof(safe), name_without_package(cpu_profile_name(p, name)));
        (void)fprintf(s->request->to, "%s\n", safe);
}

static void print_functions(const struct inspect_subject *s, const struct cpu_profile *p,
                            const struct cpu_profile_function *functions, size_t n)
{
        char self[HW_NUMBER_MAX], total[HW_NUMBER_MAX], samples[HW_NUMBER_MAX];

        (void)fprintf(s->request->to, "\n%8s  %8s  %8s  FUNCTION\n", "SELF", "TOTAL", "SAMPLES");
        for (size_t i = 0; i < n && i < s->request->top && functions[i].self_samples; i++) {
                const struct cpu_profile_function *f = &functions[i];
                (void)fprintf(s->request->to, "%8s  %8s  %8s  ",
                              hw_share_text(self, sizeof(self), share(f->self_ns, cpu_profile_ns(p))),
                              hw_share_text(total, sizeof(total), share(f->total_ns, cpu_profile_ns(p))),
                              hw_count_text(samples, sizeof(samples), f->self_samples));
                print_name(s, p, f->name);
        }
}

static void print_children(const struct inspect_subject *s, const struct tree *t, uint32_t parent, int depth)
{
        const uint64_t all = cpu_profile_ns(t->profile);
        char total[HW_NUMBER_MAX];

        for (uint32_t i = t->first[parent]; i < t->first[parent + 1]; i++) {
                const struct cpu_profile_node *node = cpu_profile_nth(t->profile, t->ids[i]);
                if (node->total_ns < all / LEAST_PARTS)
                        return;
                (void)fprintf(s->request->to, "%8s  %*s",
                              hw_share_text(total, sizeof(total), share(node->total_ns, all)),
                              depth < INDENT_MOST ? depth : INDENT_MOST, "");
                print_name(s, t->profile, node->name);
                print_children(s, t, t->ids[i], depth + 1);
        }
}

/* ----------------------------------------------------------------------------- rows */

/* The least time of a function with its callers for which there are no more rows than others have to read. */
static uint64_t least_of_rows(const struct cpu_profile *p)
{
        uint64_t least = 1;
        uint32_t n;

        for (;; least *= 2) {
                n = 0;
                for (uint32_t id = 1; id <= cpu_profile_count(p); id++)
                        n += cpu_profile_nth(p, id)->total_ns >= least;
                if (n <= ROWS_MOST)
                        return least;
        }
}

/*
 * "PARENT SELF TOTAL NAME" after an empty line, and before another: the number of the row of the caller, from 1, or 0;
 * and ns. No callee has more than its caller, so each row's caller is there.
 */
static bool print_rows(const struct inspect_subject *s, const struct cpu_profile *p)
{
        const uint64_t least = least_of_rows(p);
        uint32_t *numbers = calloc(cpu_profile_count(p) + 1u, sizeof(*numbers)), n = 0;
        char least_text[HW_NUMBER_MAX];

        if (!numbers)
                return false;
        if (least > 1)
                (void)fprintf(s->request->to, "stacks with less than %s are not shown\n",
                              hw_duration_text(least_text, sizeof(least_text), (double)least));
        (void)fputc('\n', s->request->to);
        for (uint32_t id = 1; id <= cpu_profile_count(p); id++) {
                const struct cpu_profile_node *node = cpu_profile_nth(p, id);
                if (node->total_ns < least)
                        continue;
                numbers[id] = ++n;
                (void)fprintf(s->request->to, "%" PRIu32 " %" PRIu64 " %" PRIu64 " ", numbers[node->parent],
                              node->self_ns, node->total_ns);
                print_name(s, p, node->name);
        }
        (void)fputc('\n', s->request->to);
        free(numbers);
        return true;
}

/* ---------------------------------------------------------------------------- costs */

static void print_costs(const struct inspect_subject *s, const struct cpu_profile *p)
{
        FILE *to = s->request->to;
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX], c[HW_NUMBER_MAX];
        const char *before = "samples: ";

        if (p->program_ns)
                (void)fprintf(to, "CPU time of the program: %s, %s of one processor; samples stand for %s of it\n",
                              hw_duration_text(a, sizeof(a), (double)p->program_ns),
                              hw_share_text(b, sizeof(b), share(p->program_ns, p->elapsed_ns)),
                              hw_share_text(c, sizeof(c), share(cpu_profile_ns(p), p->program_ns)));
        if (p->waited_ns)
                (void)fprintf(to, "beside that its threads waited %s for a processor\n",
                              hw_duration_text(a, sizeof(a), (double)p->waited_ns));
        for (size_t i = 0; i < SAMPLE_KINDS; i++) {
                if (!p->samples[i])
                        continue;
                (void)fprintf(to, "%s%s %s", before, hw_count_text(a, sizeof(a), p->samples[i]), kinds[i][1]);
                before = ", ";
        }
        if (p->unkept_samples)
                (void)fprintf(to, "; %s were of too many different stacks, and are not shown",
                              hw_count_text(a, sizeof(a), p->unkept_samples));
        if (cpu_profile_samples(p))
                (void)fputc('\n', to);
        if (p->n_stops)
                (void)fprintf(to, "stops of one thread each: %s (median), %s (99 of 100), %s (longest)\n",
                              hw_duration_text(a, sizeof(a), (double)cpu_profile_stop_quantile(p, 0.5)),
                              hw_duration_text(b, sizeof(b), (double)cpu_profile_stop_quantile(p, 0.99)),
                              hw_duration_text(c, sizeof(c), (double)p->longest_stop_ns));
        if (p->expired)
                (void)fprintf(to, "%s %s after %s (--max-pause), without a sample\n",
                              hw_count_text(a, sizeof(a), p->expired),
                              p->expired == 1 ? "stop ended by itself" : "stops ended by themselves",
                              hw_duration_text(b, sizeof(b), (double)s->request->max_pause_ns));
        if (p->busy)
                (void)fprintf(to, "%s time%s a thread had ended, or another command inspected the program\n",
                              hw_count_text(a, sizeof(a), p->busy), p->busy == 1 ? "" : "s");
}

static bool print_text(const struct inspect_subject *s, const struct cpu_profile *p, const struct tree *t,
                       const struct cpu_profile_function *functions, size_t n)
{
        FILE *to = s->request->to;
        char what[160], a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        (void)snprintf(what, sizeof(what), "%s samples in %s%s", hw_count_text(a, sizeof(a), cpu_profile_samples(p)),
                       hw_duration_text(b, sizeof(b), (double)p->elapsed_ns),
                       p->has_ended        ? ", after which it ended"
                       : p->is_interrupted ? ", then interrupted"
                                           : "");
        head_text(s, what);
        head_cautions(s);
        print_costs(s, p);
        if (cpu_profile_samples(p) == 0) {
                (void)fprintf(to, "it was not met while it ran: it waits; `heapwatch threads` shows for what\n");
                if (!s->request->rows)
                        return true;
        }
        if (s->request->rows)
                return print_rows(s, p);
        print_functions(s, p, functions, n);
        (void)fprintf(to, "\n%8s  TOP DOWN, without what has less than 1 %%\n", "TOTAL");
        print_children(s, t, 0, 0);
        return true;
}

/* ----------------------------------------------------------------------------- JSON */

static void functions_json(struct json_out *j, const struct cpu_profile *p,
                           const struct cpu_profile_function *functions, size_t n)
{
        json_member_open(j, "functions", '[');
        for (size_t i = 0; i < n; i++) {
                const struct cpu_profile_function *f = &functions[i];
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", cpu_profile_name(p, f->name));
                json_member_seconds(j, "self_s", f->self_ns);
                json_member_seconds(j, "total_s", f->total_ns);
                json_member_u64(j, "self_samples", f->self_samples);
                json_member_u64(j, "total_samples", f->total_samples);
                json_close(j, '}');
        }
        json_close(j, ']');
}

/* Outermost first; `parent` is the number of the caller in this list, from 0. */
static void nodes_json(struct json_out *j, const struct cpu_profile *p)
{
        json_member_open(j, "tree", '[');
        for (uint32_t id = 1; id <= cpu_profile_count(p); id++) {
                const struct cpu_profile_node *node = cpu_profile_nth(p, id);
                json_line(j);
                json_open(j, '{');
                json_member_text(j, "name", cpu_profile_name(p, node->name));
                if (node->parent)
                        json_member_u64(j, "parent", node->parent - 1);
                json_member_seconds(j, "self_s", node->self_ns);
                json_member_seconds(j, "total_s", node->total_ns);
                json_member_u64(j, "self_samples", node->self_samples);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void print_json(const struct inspect_subject *s, const struct cpu_profile *p,
                       const struct cpu_profile_function *functions, size_t n)
{
        struct json_out j = { .to = s->request->to };

        json_open(&j, '{');
        head_json(&j, s);
        json_member_seconds(&j, "elapsed_s", p->elapsed_ns);
        json_member_bool(&j, "ended", p->has_ended);
        json_member_u64(&j, "samples", cpu_profile_samples(p));
        json_member_seconds(&j, "sampled_cpu_s", cpu_profile_ns(p));
        json_known_double(&j, "cpu_s", p->program_ns > 0, (double)p->program_ns / 1e9);
        json_member_seconds(&j, "waited_for_processor_s", p->waited_ns);
        json_member_open(&j, "samples_by_stack", '{');
        for (size_t i = 0; i < SAMPLE_KINDS; i++)
                json_member_u64(&j, kinds[i][0], p->samples[i]);
        json_member_u64(&j, "not_kept", p->unkept_samples);
        json_close(&j, '}');
        json_member_open(&j, "stops", '{');
        json_member_u64(&j, "n", p->n_stops);
        if (p->n_stops) {
                json_member_seconds(&j, "median_s", cpu_profile_stop_quantile(p, 0.5));
                json_member_seconds(&j, "p99_s", cpu_profile_stop_quantile(p, 0.99));
                json_member_seconds(&j, "longest_s", p->longest_stop_ns);
        }
        json_member_u64(&j, "expired", p->expired);
        json_close(&j, '}');
        functions_json(&j, p, functions, n);
        nodes_json(&j, p);
        json_close(&j, '}');
        json_newline(&j);
}

bool show_profile(const struct inspect_subject *s, const struct cpu_profile *p)
{
        struct tree t = { p, NULL, NULL };
        size_t n;
        struct cpu_profile_function *functions = cpu_profile_functions(p, &n);
        bool good = (functions || cpu_profile_count(p) == 0) && tree_make(&t, p);

        if (good && s->request->json)
                print_json(s, p, functions, n);
        else if (good)
                good = print_text(s, p, &t, functions, n);
        tree_done(&t);
        free(functions);
        return good;
}
