/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/why.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "inspect/ghc/bands.h"
#include "inspect/ghc/names.h"
#include "inspect/show/head.h"
#include "inspect/show/heap.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"
#include "proto/base/text_out.h"

#define ROOTS_TRIED  3  /* of which it is found out what goes with them */
#define SHARE_TRIED  20 /* at least one part in so many of the band */
#define ROOTS_SHOWN  8
#define PATH_NAMES   40
#define MERGED_PATHS 64
#define BRIEF_NAMES  6  /* of a path in one sentence */
#define BRIEF_SHARE  10 /* one part in so many of the band is worth a word */

/* Of a path or a root. */
struct holding {
        uint32_t path;
        uint64_t bytes, closures;
        uint64_t only_bytes; /* of the band, that nothing else holds; */
        uint64_t with_bytes; /* of everything, that would go with it */
        bool tried;
};

struct question {
        const struct inspect_subject *subject;
        const struct heap_snapshot *snapshot;
        struct retainers retainers;
        const char *band; /* its name */
        bool by_type;     /* the name is that of a heap profile by closure type: "THUNK_1_0" */
        bool *wanted;     /* by closure_table.id */
        uint32_t n_wanted;
        uint64_t bytes, closures;        /* of the band, also what is young */
        uint64_t dead_bytes;             /* of these, that were not reached; */
        uint64_t pinned_bytes;           /* of those, in pinned blocks that stay for what was reached in them */
        uint64_t all_bytes, all_reached; /* of everything */
        struct holding *paths, *roots;   /* the largest first */
        size_t n_paths, n_roots;
};

/* ------------------------------------------------------------------------ the band */

/* How well a name answers what was typed: 0: not at all. */
static unsigned match(const char *name, const char *typed)
{
        const char *plain = name_without_package(name), *dot = strrchr(plain, '.');

        if (!strcmp(name, typed) || !strcmp(plain, typed))
                return 3;
        if (dot && dot[1] && !strcmp(dot + 1, typed))
                return 2;
        return strstr(plain, typed) != NULL;
}

/* Stacks grow with what is computed; they are not kept by anything. */
static bool is_of_thread(const char *name)
{
        return !strncmp(name, "STACK", 5) || !strncmp(name, "TSO", 3);
}

static const char *choose(const struct heap_bands *b, const char *typed)
{
        const char *best = NULL;
        unsigned best_match = 0;

        for (size_t i = 0; i < b->n; i++) {
                const unsigned m = typed ? match(b->items[i].name, typed) : !is_of_thread(b->items[i].name);
                if (m > best_match) {
                        best = b->items[i].name;
                        best_match = m;
                }
        }
        return best;
}

/* Which tables are of the band; more may be read later, and these are not. */
static bool want(struct question *q)
{
        const struct info_tables *t = &q->snapshot->ghc->tables;
        char name[PROGRAM_NAME_BYTES + 64];

        q->n_wanted = info_tables_count(t) + 1;
        if (!(q->wanted = calloc(q->n_wanted, sizeof(*q->wanted))))
                return false;
        for (uint32_t id = 1; id < q->n_wanted; id++) {
                const struct closure_table *c = info_tables_nth(t, id);
                if (c->type == 0)
                        continue;
                closure_name(q->snapshot->ghc->program, c, q->by_type, name, sizeof(name));
                q->wanted[id] = !strcmp(name, q->band);
        }
        return true;
}

static bool is_wanted(const struct question *q, const struct closure_table *t)
{
        return t->id < q->n_wanted && q->wanted[t->id];
}

/* ----------------------------------------------------------------------- the search */

static void see_closure(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes)
{
        struct question *q = ctx;
        const bool reached = retainers_is_reached(&q->retainers, at);

        q->all_bytes += bytes;
        q->all_reached += reached ? bytes : 0;
        if (!is_wanted(q, t))
                return;
        q->bytes += bytes;
        q->closures++;
        q->dead_bytes += reached ? 0 : bytes;
}

static void see_all(struct question *q)
{
        uint64_t unused = 0;

        for (size_t i = 0; i < q->snapshot->n_groups; i++) {
                const struct heap_group *g = &q->snapshot->groups[i];
                const uint64_t reached = q->all_reached, dead = q->dead_bytes;
                if (g->kind == GROUP_OTHER)
                        continue;
                (void)group_each(q->snapshot, g, see_closure, q, &unused);
                if (g->flags & BLOCK_PINNED && q->all_reached > reached)
                        q->pinned_bytes += q->dead_bytes - dead;
        }
}

static uint64_t bytes_of(const struct heap_snapshot *s, const struct closure_table *t, uint64_t at)
{
        const struct heap_group *g = snapshot_group(s, at);

        return g ? closure_bytes(s, t, at, g->start + (uint64_t)g->blocks * BLOCK_BYTES) : 0;
}

/* What was reached of the band and of everything. */
static void sum(const struct question *q, struct holding *by_path, uint64_t *ret_band, uint64_t *ret_all)
{
        *ret_band = *ret_all = 0;
        for (size_t i = 0; i < q->retainers.n_reached; i++) {
                const struct reached *c = &q->retainers.reached[i];
                const struct closure_table *t =
                        info_tables_find(&q->snapshot->ghc->tables, snapshot_word(q->snapshot, c->at));
                const uint64_t bytes = t ? bytes_of(q->snapshot, t, c->at) : 0;
                *ret_all += bytes;
                if (!t || !is_wanted(q, t))
                        continue;
                *ret_band += bytes;
                if (by_path) {
                        by_path[c->path].bytes += bytes;
                        by_path[c->path].closures++;
                }
        }
}

static int by_bytes(const void *a, const void *b)
{
        const struct holding *x = a, *y = b;

        if (x->bytes != y->bytes)
                return x->bytes > y->bytes ? -1 : 1;
        return (x->path > y->path) - (x->path < y->path);
}

static size_t keep_some(struct holding *h, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++)
                if (h[i].bytes)
                        h[kept++] = h[i];
        if (kept)
                qsort(h, kept, sizeof(*h), by_bytes);
        return kept;
}

/* The same types but for how many there are of each: what is at the end of a list is kept as the rest of it is. */
static bool is_same_path(const struct type_path *paths, uint32_t a, uint32_t b)
{
        while (a && b && a != b && paths[a].name == paths[b].name) {
                a = paths[a].up;
                b = paths[b].up;
        }
        return a == b;
}

/* Of the largest; the small ones do not matter. */
static size_t merge_paths(const struct retainers *r, struct holding *h, size_t n)
{
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                size_t k = 0;
                while (k < kept && k < MERGED_PATHS && !is_same_path(r->paths, h[k].path, h[i].path))
                        k++;
                if (k < kept && k < MERGED_PATHS) {
                        h[k].bytes += h[i].bytes;
                        h[k].closures += h[i].closures;
                } else {
                        h[kept++] = h[i];
                }
        }
        if (kept)
                qsort(h, kept, sizeof(*h), by_bytes);
        return kept;
}

/* By path; then by the root of each. */
static bool fold(struct question *q, uint64_t *ret_band, uint64_t *ret_all)
{
        const uint32_t n = q->retainers.n_paths + 1;

        q->paths = calloc(n, sizeof(*q->paths));
        q->roots = calloc(n, sizeof(*q->roots));
        if (!q->paths || !q->roots)
                return false;
        for (uint32_t i = 0; i < n; i++)
                q->paths[i].path = q->roots[i].path = i;
        sum(q, q->paths, ret_band, ret_all);
        for (uint32_t i = 1; i < q->retainers.n_paths; i++) {
                struct holding *root = &q->roots[retainers_root_of(&q->retainers, i)];
                root->bytes += q->paths[i].bytes;
                root->closures += q->paths[i].closures;
        }
        q->n_paths = merge_paths(&q->retainers, q->paths, keep_some(q->paths, n));
        q->n_roots = keep_some(q->roots, n);
        return true;
}

/* For the largest roots once more without each: what is not reached then, only it holds. */
static bool try_without(struct question *q, uint64_t band, uint64_t all)
{
        const struct type_path *paths = q->retainers.paths;

        for (size_t i = 0; i < q->n_roots && i < ROOTS_TRIED && q->roots[i].bytes >= band / SHARE_TRIED; i++) {
                const char *name = paths[q->roots[i].path].name;
                uint64_t band_left, all_left;
                if (!retainers_find_without(&q->retainers, name))
                        return false;
                paths = q->retainers.paths;
                sum(q, NULL, &band_left, &all_left);
                q->roots[i].only_bytes = band > band_left ? band - band_left : 0;
                q->roots[i].with_bytes = all > all_left ? all - all_left : 0;
                q->roots[i].tried = true;
        }
        return true;
}

/* --------------------------------------------------------------------------- output */

/* Roots of one name are one: threads of one kind, stable pointers, weak pointers. */
static uint64_t count_roots(const struct question *q, const char *name)
{
        uint64_t n = 0;

        for (size_t i = 0; i < q->retainers.n_roots; i++)
                n += q->retainers.roots[i].name == name; /* interned */
        return n ? n : q->retainers.live_weak_pointers;
}

struct holder {
        char text[2 * PROGRAM_NAME_BYTES];
        bool several;
};

/* As the subject of a sentence: "a thread in Main.main", "8,816 threads in Main", "CAF Main.sessions". */
static struct holder holder_of(const struct question *q, const struct holding *h)
{
        static const struct {
                const char *one, *several;
        } counted[] = {
                { "thread", "threads" },
                { "stable pointer", "stable pointers" },
                { "weak pointer whose key is", "weak pointers whose keys are" },
        };
        const char *name = q->retainers.paths[h->path].name;
        struct holder ret = { .several = !strncmp(name, "registers", 9) };
        char n[HW_NUMBER_MAX], text[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(text, sizeof(text), name);
        for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
                const size_t length = strlen(counted[i].one);
                if (strncmp(name, counted[i].one, length) != 0)
                        continue;
                const uint64_t roots = count_roots(q, name);
                ret.several = roots > 1;
                (void)text_join(ret.text, sizeof(ret.text), ret.several ? hw_count_text(n, sizeof(n), roots) : "a", " ",
                                ret.several ? counted[i].several : counted[i].one, text + length, NULL);
                return ret;
        }
        (void)text_join(ret.text, sizeof(ret.text), text, NULL);
        return ret;
}

/* The types from the closure's holder to the root. Returns how many. */
static size_t names_of(const struct retainers *r, uint32_t path, const struct type_path *ret[PATH_NAMES])
{
        size_t n = 0;
        /* the first is the closure itself, unless it is held by others of its type */
        for (uint32_t p = r->paths[path].plus || !r->paths[path].up ? path : r->paths[path].up; p && n < PATH_NAMES;
             p = r->paths[p].up)
                ret[n++] = &r->paths[p];
        return n;
}

static void print_path(const struct question *q, const struct holding *h, uint64_t band)
{
        const struct type_path *names[PATH_NAMES];
        const size_t n = names_of(&q->retainers, h->path, names);
        char share[HW_NUMBER_MAX], text[2 * PROGRAM_NAME_BYTES];
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "  %7s", hw_share_text(share, sizeof(share), (double)h->bytes / (double)band));
        for (size_t i = 0; i < n; i++) {
                (void)hw_terminal_text(text, sizeof(text), names[i]->name);
                (void)fprintf(to, " <- %s%s", text, names[i]->plus ? "+" : "");
        }
        (void)fputc('\n', to);
}

static void print_root(const struct question *q, const struct holding *h, uint64_t band)
{
        char share[HW_NUMBER_MAX], only[HW_NUMBER_MAX], with[HW_NUMBER_MAX];
        const struct holder holder = holder_of(q, h);
        FILE *to = q->subject->request->to;

        (void)fprintf(to, "  %7s  %s", hw_share_text(share, sizeof(share), (double)h->bytes / (double)band),
                      holder.text);
        if (h->tried)
                (void)fprintf(to, "; nothing else holds %s; without %s %s of everything would go",
                              hw_share_text(only, sizeof(only), (double)h->only_bytes / (double)band),
                              holder.several ? "them" : "it", hw_bytes_text(with, sizeof(with), (double)h->with_bytes));
        (void)fputc('\n', to);
}

static void print_text(const struct question *q, uint64_t band)
{
        char what[PROGRAM_NAME_BYTES + 128], n[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX], name[2 * PROGRAM_NAME_BYTES];
        FILE *to = q->subject->request->to;
        const size_t top = q->subject->request->top;

        (void)hw_terminal_text(name, sizeof(name), name_without_package(q->band));
        (void)snprintf(what, sizeof(what), "why %.400s is kept: %s closures, %s", name,
                       hw_count_text(n, sizeof(n), q->closures), hw_bytes_text(bytes, sizeof(bytes), (double)q->bytes));
        head_text(q->subject, what);
        head_cautions(q->subject);
        if (q->pinned_bytes)
                (void)fprintf(to, "%s of it are dead and stay: in pinned blocks that what is alive in them keeps\n",
                              hw_bytes_text(bytes, sizeof(bytes), (double)q->pinned_bytes));
        if (q->dead_bytes > q->pinned_bytes)
                (void)fprintf(to,
                              "%s of it are held by no root that was found: garbage until the next major collection, "
                              "most likely\n",
                              hw_bytes_text(bytes, sizeof(bytes), (double)(q->dead_bytes - q->pinned_bytes)));
        (void)fputs("\nshortest paths\n", to);
        for (size_t i = 0; i < q->n_paths && i < top; i++)
                print_path(q, &q->paths[i], band);
        if (q->n_paths > top)
                (void)fprintf(to, "  ... %zu further paths\n", q->n_paths - top);
        (void)fputs("\nroots\n", to);
        for (size_t i = 0; i < q->n_roots && i < ROOTS_SHOWN; i++)
                print_root(q, &q->roots[i], band);
        (void)fprintf(to, "\nreached from the roots: %s of the heap\n",
                      hw_share_text(n, sizeof(n), q->all_bytes ? (double)q->all_reached / (double)q->all_bytes : 0));
}

/* The largest path of a root, without the root: "Session <- Bin+ <- MUT_VAR"; "" when it holds the band directly. */
static void append_brief_path(const struct question *q, uint32_t root, struct text_out *out)
{
        const struct type_path *names[PATH_NAMES];
        char text[2 * PROGRAM_NAME_BYTES];
        size_t i = 0, n;

        while (i < q->n_paths && retainers_root_of(&q->retainers, q->paths[i].path) != root)
                i++;
        n = i < q->n_paths ? names_of(&q->retainers, q->paths[i].path, names) : 0;
        for (i = 0; i + 1 < n; i++) {
                if (i == BRIEF_NAMES) {
                        text_put(out, " <- ...");
                        break;
                }
                (void)hw_terminal_text(text, sizeof(text), name_without_package(names[i]->name));
                text_put(out, i ? " <- " : ", by way of ");
                text_put(out, text);
                text_put(out, names[i]->plus ? "+" : "");
        }
}

/* One sentence that begins with the holder: a narrow place shows its beginning alone. */
static void print_brief(const struct question *q, uint64_t band)
{
        char band_name[2 * PROGRAM_NAME_BYTES], share[HW_NUMBER_MAX], bytes[HW_NUMBER_MAX], path[1024];
        struct holder holder;
        const uint64_t garbage = q->dead_bytes - q->pinned_bytes;
        const struct holding *first = q->roots, *second = q->n_roots > 1 ? &q->roots[1] : NULL;
        FILE *to = q->subject->request->to;
        struct text_out out;

        (void)hw_terminal_text(band_name, sizeof(band_name), name_without_package(q->band));
        (void)hw_bytes_text(bytes, sizeof(bytes), (double)(q->n_roots ? band : q->bytes));
        if (q->n_roots == 0) {
                (void)fprintf(to,
                              "nothing that was found keeps %s (%s): garbage until the next major collection, most "
                              "likely\n",
                              band_name, bytes);
                return;
        }
        text_out_init(&out, path, sizeof(path));
        append_brief_path(q, first->path, &out);
        holder = holder_of(q, first);
        (void)fprintf(to, "%s %s %s of %s (%s)%s", holder.text, holder.several ? "keep" : "keeps",
                      hw_share_text(share, sizeof(share), (double)first->bytes / (double)band), band_name, bytes, path);
        if (first->tried && first->with_bytes)
                (void)fprintf(to, "; without %s %s would go", holder.several ? "them" : "it",
                              hw_bytes_text(bytes, sizeof(bytes), (double)first->with_bytes));
        if (second && second->bytes >= band / BRIEF_SHARE) {
                holder = holder_of(q, second);
                (void)fprintf(to, "; %s %s %s", holder.text, holder.several ? "keep" : "keeps",
                              hw_share_text(share, sizeof(share), (double)second->bytes / (double)band));
        }
        if (q->pinned_bytes && q->pinned_bytes >= q->bytes / BRIEF_SHARE)
                (void)fprintf(to, "; %s more are dead, in pinned blocks that what is alive in them keeps",
                              hw_bytes_text(bytes, sizeof(bytes), (double)q->pinned_bytes));
        if (garbage && garbage >= q->bytes / BRIEF_SHARE)
                (void)fprintf(to, "; %s more are garbage until the next major collection, most likely",
                              hw_bytes_text(bytes, sizeof(bytes), (double)garbage));
        (void)fputc('\n', to);
}

static void json_path(struct json_out *j, const struct question *q, const struct holding *h)
{
        const struct type_path *names[PATH_NAMES];
        const size_t n = names_of(&q->retainers, h->path, names);

        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        json_member_open(j, "path", '[');
        for (size_t i = 0; i < n; i++) {
                json_open(j, '{');
                json_member_text(j, "type", names[i]->name);
                json_member_bool(j, "several", names[i]->plus != 0);
                json_close(j, '}');
        }
        json_close(j, ']');
        json_close(j, '}');
}

static void json_root(struct json_out *j, const struct question *q, const struct holding *h)
{
        json_line(j);
        json_open(j, '{');
        json_member_text(j, "name", q->retainers.paths[h->path].name);
        json_member_u64(j, "bytes", h->bytes);
        json_member_u64(j, "closures", h->closures);
        json_known_u64(j, "only_bytes", h->tried, h->only_bytes);
        json_known_u64(j, "with_bytes", h->tried, h->with_bytes);
        json_close(j, '}');
}

static void print_json(const struct question *q)
{
        struct json_out j = { .to = q->subject->request->to };

        json_open(&j, '{');
        head_json(&j, q->subject);
        json_member_text(&j, "band", q->band);
        json_member_u64(&j, "bytes", q->bytes);
        json_member_u64(&j, "closures", q->closures);
        json_member_u64(&j, "unreached_bytes", q->dead_bytes);
        json_member_u64(&j, "unreached_pinned_bytes", q->pinned_bytes);
        json_member_u64(&j, "heap_bytes", q->all_bytes);
        json_member_u64(&j, "heap_reached_bytes", q->all_reached);
        json_member_u64(&j, "live_cafs", q->retainers.live_cafs);
        json_member_u64(&j, "dead_cafs", q->retainers.dead_cafs);
        json_member_open(&j, "paths", '[');
        for (size_t i = 0; i < q->n_paths && i < q->subject->request->top; i++)
                json_path(&j, q, &q->paths[i]);
        json_close(&j, ']');
        json_member_open(&j, "roots", '[');
        for (size_t i = 0; i < q->n_roots; i++)
                json_root(&j, q, &q->roots[i]);
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}

static bool answer(struct question *q, struct error *error)
{
        uint64_t band, all;
        bool good = want(q) && retainers_find(&q->retainers, q->snapshot);

        if (good) {
                see_all(q);
                good = fold(q, &band, &all) && try_without(q, band, all);
        }
        if (!good)
                return error_set(error, "out of memory; --memory gives it more");
        if (q->subject->request->json)
                print_json(q);
        else if (q->subject->request->brief)
                print_brief(q, band ? band : 1);
        else
                print_text(q, band ? band : 1);
        return true;
}

bool show_why(const struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error)
{
        struct question q = { .subject = s, .snapshot = snapshot };
        struct heap_census c = { .n = 0 };
        struct heap_bands b = { NULL, 0 };
        bool good;

        heap_census_count(&c, snapshot);
        good = is_understood(&c, error);
        for (int tries = 0; good && !q.band && tries < 2; tries++) { /* functions and thunks by name, then by type */
                heap_bands_done(&b);
                q.by_type = tries > 0;
                good = heap_bands_of(&b, &c, snapshot->ghc, q.by_type) || error_set(error, "out of memory");
                q.band = good ? choose(&b, s->request->band) : NULL;
        }
        if (good && !q.band)
                good = error_set(error, "no type of its heap has %.200s in its name; `heapwatch heap` lists them",
                                 s->request->band ? s->request->band : "anything");
        good = good && answer(&q, error);
        retainers_done(&q.retainers);
        free(q.wanted);
        free(q.paths);
        free(q.roots);
        heap_bands_done(&b);
        heap_census_done(&c);
        return good;
}
