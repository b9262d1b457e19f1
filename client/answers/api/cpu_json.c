/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/answers/api/state_json.h"

static void put_tree(struct json_out *j, const struct cpu_tree *t)
{
        json_member_open(j, "sentences", '[');
        for (size_t i = 0; i < t->n_sentences; i++)
                json_text(j, t->sentences[i]);
        json_close(j, ']');
        json_member_u64(j, t->by_allocation ? "totalBytes" : "totalNs", t->total_weight);
        json_member_open(j, "rows", '[');
        for (size_t i = 0; i < t->n; i++) {
                json_open(j, '[');
                json_u64(j, t->nodes[i].parent);
                json_u64(j, t->nodes[i].self_weight);
                json_u64(j, t->nodes[i].total_weight);
                json_text(j, t->nodes[i].name);
                json_close(j, ']');
        }
        json_close(j, ']');
}

void cpu_json_members(struct json_out *j, const struct cpu_trees *t)
{
        put_tree(j, &t->running);
        if (t->waiting.n_sentences) {
                json_member_open(j, "waiting", '{');
                put_tree(j, &t->waiting);
                json_close(j, '}');
        }
}
