/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/why.h"

#include "inspect/ghc/names.h"

static const char *const sliced[SLICES_KINDS] = { [SLICES_OF_BYTES] = "ByteString", [SLICES_OF_TEXT] = "Text" };

static void json_path(struct json_out *j, const struct question *q, const struct holding *h)
{
        const struct type_path *names[PATH_NAMES];
        const size_t n = why_names(&q->types, h->path, names);

        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        if (q->then)
                json_member_u64(j, "bytes_then", h->then_bytes);
        json_member_open(j, "path", '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_member_text(j, "type", why_shown_name(names, i, n));
                json_member_bool(j, "probably", name_is_probable(names[i]->name));
                json_member_bool(j, "several", names[i]->plus != 0);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

void why_json_paths(struct json_out *j, const struct question *q, size_t most)
{
        json_member_open(j, "paths", '[');
        for (size_t i = 0; i < q->n_paths && i < most; i++)
                json_path(j, q, &q->paths[i]);
        json_close(j, ']');
}

static void json_root(struct json_out *j, const struct question *q, const struct holding *h)
{
        json_line(j);
        json_open(j, '{');
        json_member_text(j, "name", q->types.items[h->path].name);
        json_member_bool(j, "probably", name_is_probable(q->types.items[h->path].name));
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        if (q->then)
                json_member_u64(j, "bytes_then", h->then_bytes);
        json_known_u64(j, "only_bytes", h->tried, h->only_bytes);
        json_known_u64(j, "with_bytes", h->tried, h->with_bytes);
        json_known_text(j, "other_root", h->other);
        json_known_u64(j, "other_root_bytes", h->other != NULL, h->other_bytes);
        json_known_u64(j, "with_dead_bytes", h->tried && q->graph->arrays_known, h->dead_bytes);
        json_close(j, '}');
}

static void json_slices(struct json_out *j, const struct heap_graph *g)
{
        json_member_open(j, "slices", '[');
        for (unsigned kind = 0; kind < SLICES_KINDS; kind++)
                if (g->slices[kind].arrays) {
                        json_line(j);
                        json_open(j, '{');
                        json_member_text(j, "of", sliced[kind]);
                        json_member_u64(j, "slices", g->slices[kind].slices);
                        json_member_u64(j, "arrays", g->slices[kind].arrays);
                        json_member_u64(j, "array_bytes", g->slices[kind].array_bytes);
                        json_member_u64(j, "used_bytes", g->slices[kind].used_bytes);
                        json_close(j, '}');
                }
        json_close(j, ']');
}

void why_print_json(const struct question *q)
{
        struct json_out j = { .to = q->subject->request->to };
        const struct heap_band *b = heap_bands_find(&q->graph->bands, q->name);

        json_open(&j, '{');
        head_json_of_graph(&j, q->subject);
        json_member_text(&j, "band", q->name);
        json_member_bool(&j, "probably", name_is_probable(q->name));
        json_member_u64(&j, "bytes", graph_group_bytes(band_of(q)));
        json_member_u64(&j, "closures", graph_group_closures(band_of(q)));
        if (q->then)
                json_member_u64(&j, "bytes_then", bytes_then(q));
        if (b)
                contents_json(&j, b);
        json_member_u64(&j, "unreached_bytes", band_of(q)->unreached_bytes);
        json_member_u64(&j, "unreached_pinned_bytes", band_of(q)->pinned_bytes);
        json_member_u64(&j, "heap_bytes", q->all_bytes);
        json_member_u64(&j, "heap_reached_bytes", q->all_reached);
        json_member_u64(&j, "live_cafs", q->graph->live_cafs);
        json_member_u64(&j, "dead_cafs", q->graph->dead_cafs);
        if (q->graph->arrays_known)
                json_slices(&j, q->graph);
        why_json_paths(&j, q, q->subject->request->top);
        json_member_open(&j, "roots", '[');
        for (size_t i = 0; i < q->n_roots; i++)
                json_root(&j, q, &q->roots[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}
