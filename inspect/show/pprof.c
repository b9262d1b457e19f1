/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "heapwatch/text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/out_file.h"
#include "proto/cli/profile/pprof.h"

/* What is counted and weighed in a tree: its own two of the values of a sample, the others being 0. */
static void add_samples(struct pprof *to, const struct time_tree *t, size_t first, size_t n_values)
{
        uint32_t stack[PROFILE_DEEP];

        for (uint32_t id = 1; id <= time_tree_count(t); id++) {
                const struct time_node *node = time_tree_nth(t, id);
                uint64_t values[4] = { 0 };

                values[first] = node->self_samples;
                values[first + 1] = node->self_weight;
                if (node->self_samples)
                        pprof_add_sample(to, stack, profile_stack(t, id, stack), values, n_values, UINT64_MAX);
        }
}

bool profile_write_pprof(FILE *to, const struct stack_profile *p, const char *program)
{
        struct pprof *out = pprof_new(to);
        bool good = false;

        if (out) {
                const uint64_t samples = time_tree_samples(&p->running);
                const char *type = p->by_allocation ? "alloc_space" : "cpu",
                           *unit = p->by_allocation ? "bytes" : "nanoseconds";

                pprof_add_type(out, "samples", "count");
                pprof_add_type(out, type, unit);
                if (p->with_waiting) {
                        pprof_add_type(out, "waits", "count");
                        pprof_add_type(out, "waiting", "nanoseconds");
                }
                add_samples(out, &p->running, 0, p->with_waiting ? 4 : 2);
                add_samples(out, &p->waiting, 2, 4);
                for (uint32_t name = 1; name <= p->names.count; name++) {
                        char text[2 * PROGRAM_NAME_BYTES];
                        const char *from = name_without_package(stack_profile_name(p, name));

                        (void)hw_utf8_clean(text, sizeof(text), from, strlen(from));
                        pprof_add_function(out, name, text, NULL, 0);
                }
                pprof_set_time(out, p->began_wall_ns, p->elapsed_ns);
                pprof_set_period(out, type, unit, samples ? time_tree_weight(&p->running) / samples : 0);
                good = pprof_close(out) == 0;
        }
        pprof_destroy(&out);
        return good;
}
