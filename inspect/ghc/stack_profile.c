/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - frames that only say what becomes of a value (update, catch, apply to arguments) are no functions and are
 * left out; neighbours of one name are one, so that recursion does not make the tree deeper with each call. What is
 * missing of a stack is its outer part: it has a root of its own that says so. What a thread waits for is a root, too.
 *
 * By allocation samples of one stack have one rate, bytes for CPU time, whatever moment followed which of them. Where
 * functions take turns, a moment may begin in one and end in another: counted for both alike, what allocates little
 * would gain what the other loses. So moments that ended in the stack in which they began count alone where these are
 * most of the time of all; where they are not, it takes turns so quickly that only the shortest moments ended in it.
 */
#include "inspect/ghc/stack_profile.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/hash.h"
#include "proto/base/text_out.h"

#define NODES_MOST  (UINT32_C(1) << 18)
#define PLACES_MOST (UINT32_C(1) << 18)

/* The outermost name of what is not a whole stack. */
static const char *const roots[SAMPLE_KINDS] = {
        [SAMPLE_CUT] = "(deeper stack)",
        [SAMPLE_BROKEN] = "(stack not understood)",
        [SAMPLE_COLLECTION] = "(garbage collection)",
        [SAMPLE_OUTSIDE] = "(outside of Haskell threads)",
};

struct place {
        uint64_t address;
        uint32_t name;
};

void stack_profile_init(struct stack_profile *p)
{
        *p = (struct stack_profile){ .seed = hash_seed(p) };
        pool_init(&p->running.nodes, sizeof(struct time_node), 10);
        pool_init(&p->waiting.nodes, sizeof(struct time_node), 10);
        pool_init(&p->names, sizeof(char *), 8);
        pool_init(&p->places, sizeof(struct place), 8);
}

static void tree_done(struct time_tree *t)
{
        pool_done(&t->nodes);
        idtable_done(&t->ids);
}

void stack_profile_done(struct stack_profile *p)
{
        for (uint32_t id = 1; id <= p->names.count; id++)
                free(*(char **)pool_at(&p->names, id));
        tree_done(&p->running);
        tree_done(&p->waiting);
        pool_done(&p->names);
        pool_done(&p->places);
        idtable_done(&p->name_ids);
        idtable_done(&p->place_ids);
}

/* --------------------------------------------------------------------------- names */

const char *stack_profile_name(const struct stack_profile *p, uint32_t id)
{
        return *(char **)pool_at(&p->names, id);
}

/* 0: no memory. */
static uint32_t intern_name(struct stack_profile *p, const char *name)
{
        const uint64_t hash = hash_text(name, p->seed);
        uint32_t at = idtable_start(&p->name_ids, hash), id;

        while ((id = idtable_next(&p->name_ids, hash, &at)) && strcmp(stack_profile_name(p, id), name) != 0)
                ;
        char **to = id ? NULL : pool_add(&p->names);
        if (id || !to)
                return id;
        if (!(*to = strdup(name)) || idtable_add(&p->name_ids, hash, p->names.count) < 0) {
                free(*to);
                pool_undo(&p->names);
                return 0;
        }
        return p->names.count;
}

static uint32_t name_of_place(struct stack_profile *p, struct ghc *g, uint64_t address, bool is_c)
{
        const uint64_t hash = hash_u64(address, p->seed);
        uint32_t at = idtable_start(&p->place_ids, hash), id;
        char name[2 * PROGRAM_NAME_BYTES];
        struct place *place;

        while ((id = idtable_next(&p->place_ids, hash, &at)) != 0) {
                place = pool_at(&p->places, id);
                if (place->address == address)
                        return place->name;
        }
        if (is_c)
                name_of_c_function(g->program, address, name, sizeof(name));
        else
                name_of_function(&g->tables, address, name, sizeof(name));
        const uint32_t result = intern_name(p, name);
        if (result && p->places.count < PLACES_MOST && (place = pool_add(&p->places)) != NULL) {
                *place = (struct place){ address, result };
                if (idtable_add(&p->place_ids, hash, p->places.count) < 0)
                        pool_undo(&p->places);
        }
        return result;
}

static uint32_t name_at(struct stack_profile *p, struct ghc *g, uint64_t address)
{
        return name_of_place(p, g, address, false);
}

/* --------------------------------------------------------------------------- the tree */

/* The child of a node; 0: no memory, or too many. */
static uint32_t child_of(struct time_tree *t, uint64_t seed, uint32_t parent, uint32_t name)
{
        const uint64_t hash = hash_u64((uint64_t)parent << 32 | name, seed);
        uint32_t at = idtable_start(&t->ids, hash), id;

        while ((id = idtable_next(&t->ids, hash, &at)) != 0) {
                const struct time_node *node = time_tree_nth(t, id);
                if (node->parent == parent && node->name == name)
                        return id;
        }
        struct time_node *node = t->nodes.count < NODES_MOST ? pool_add(&t->nodes) : NULL;
        if (!node)
                return 0;
        *node = (struct time_node){ .parent = parent, .name = name };
        if (idtable_add(&t->ids, hash, t->nodes.count) < 0) {
                pool_undo(&t->nodes);
                return 0;
        }
        return t->nodes.count;
}

struct stack {
        struct stack_profile *profile;
        struct ghc *ghc;
        uint32_t names[PROFILE_DEEP]; /* the innermost first */
        size_t n;
        bool is_cut;
};

static void push_name(struct stack *s, uint32_t name)
{
        if (s->n > 0 && s->names[s->n - 1] == name)
                return;
        if (s->n < PROFILE_FRAMES)
                s->names[s->n++] = name;
        else
                s->is_cut = true;
}

static void push_code(struct stack *s, uint64_t address)
{
        const uint32_t name = name_at(s->profile, s->ghc, address);

        if (!name || !name_is_of_runtime(stack_profile_name(s->profile, name)))
                push_name(s, name);
}

static void push_frame(void *ctx, const struct closure_table *frame)
{
        if (frame->type != UPDATE_FRAME && frame->type != CATCH_FRAME && frame->type != STOP_FRAME)
                push_code(ctx, frame->at);
}

/* By its label without its number, else by its own number. Further ones are one. */
static uint32_t name_of_thread(struct stack_profile *p, const struct haskell_thread *h)
{
        char name[THREAD_LABEL_BYTES + 32];
        struct text_out out;

        text_out_init(&out, name, sizeof(name));
        text_put(&out, "thread");
        if (!thread_put_kind(&out, h->label)) {
                text_put(&out, " ");
                text_put_u64(&out, h->id);
        }
        for (size_t i = 0; i < p->n_threads; i++)
                if (!strcmp(stack_profile_name(p, p->threads[i]), name))
                        return p->threads[i];
        const uint32_t id = intern_name(p, p->n_threads < PROFILE_THREADS ? name : "thread (another)");
        if (id && p->n_threads < PROFILE_THREADS)
                p->threads[p->n_threads++] = id;
        return id;
}

/* Returns its node; NULL: it is only counted. */
static struct time_node *add_stack(struct time_tree *t, const struct stack *s, enum sample_kind kind, uint64_t weight)
{
        uint32_t id = 0;

        t->samples[kind]++;
        t->weights[kind] += weight;
        for (size_t i = s->n; i-- > 0;)
                if (s->names[i] == 0 || !(id = child_of(t, s->profile->seed, id, s->names[i]))) {
                        t->unkept_samples++;
                        t->unkept_weight += weight;
                        return NULL;
                }
        struct time_node *node = id ? pool_at(&t->nodes, id) : NULL;
        if (node) {
                node->self_samples++;
                node->self_weight += weight;
        }
        return node;
}

/* The frames of a thread, and what is missing of them. */
static enum sample_kind push_frames(struct stack *s, struct threads *t, struct haskell_thread *h)
{
        thread_walk(t, s->ghc, h, push_frame, s);
        return s->is_cut || h->cut ? SAMPLE_CUT : h->whole ? SAMPLE_WHOLE : SAMPLE_BROKEN;
}

/*
 * From where the processor was to the code of Haskell that has called, or to the outermost function: where more are
 * between these that are not known, that is said. In an `unsafe` call the function that makes it may have no frame.
 */
static void push_c_frames(struct stack *s, const struct threads *t, enum activity activity, uint64_t at)
{
        for (size_t i = 0; i < t->in_c.n; i++)
                push_name(s, name_of_place(s->profile, s->ghc, t->in_c.items[i].function, true));
        if (t->in_c.n == 0)
                push_name(s, name_at(s->profile, s->ghc, at));
        else if (t->n && !t->in_c.caller)
                push_name(s, intern_name(s->profile, NAMES_OF_C_UNKNOWN));
        else if (activity == ACTIVITY_HASKELL)
                push_code(s, t->in_c.caller);
}

/*
 * "(heapwatch's agent)", "(runtime's timer)": a thread of the system that does no work of the program; NULL: another.
 * Its stack says nothing of the program, so it is one row.
 */
static const char *service_of(struct stack *s, const struct threads *t, uint64_t at)
{
        for (size_t i = 0; i <= t->in_c.n; i++) {
                const uint64_t address = i < t->in_c.n ? t->in_c.items[i].function : at;
                const struct mapping *m = program_mapping(s->ghc->program, address);
                const char *file = m && m->file ? s->ghc->program->files[m->file - 1] : "";
                const uint32_t name = name_of_place(s->profile, s->ghc, address, i < t->in_c.n);

                if (strstr(file, "libheapwatch-agent"))
                        return "(heapwatch's agent)";
                if (name && !strcmp(stack_profile_name(s->profile, name), "itimer_thread_func"))
                        return "(runtime's timer)";
        }
        return NULL;
}

/* All but the thread. */
static enum sample_kind push_stack(struct stack *s, struct threads *t, enum activity activity, uint64_t at)
{
        enum sample_kind kind = activity == ACTIVITY_COLLECTION ? SAMPLE_COLLECTION : SAMPLE_OUTSIDE;

        const char *service = kind == SAMPLE_OUTSIDE && t->n == 0 ? service_of(s, t, at) : NULL;

        if (service)
                push_name(s, intern_name(s->profile, service));
        else if (kind != SAMPLE_COLLECTION || t->n)
                push_c_frames(s, t, activity, at);
        if (t->n)
                kind = push_frames(s, t, &t->items[0]);
        if (roots[kind])
                s->names[s->n++] = intern_name(s->profile, roots[kind]);
        return kind;
}

static struct time_node *add_running(struct stack *s, struct threads *t, enum sample_kind kind, uint64_t weight)
{
        if (s->profile->by_thread && t->n)
                s->names[s->n++] = name_of_thread(s->profile, &t->items[0]);
        return add_stack(&s->profile->running, s, kind, weight);
}

void stack_profile_add(struct stack_profile *p, struct ghc *g, struct threads *t, enum activity activity, uint64_t at,
                       uint64_t weight)
{
        struct stack s = { .profile = p, .ghc = g };
        const enum sample_kind kind = push_stack(&s, t, activity, at);

        (void)add_running(&s, t, kind, weight);
}

void stack_profile_add_allocating(struct stack_profile *p, struct ghc *g, struct threads *t, uint64_t at,
                                  uint64_t cpu_ns, const struct allocated *after, struct threads *end, uint64_t end_at)
{
        struct stack s = { .profile = p, .ghc = g }, last = { .profile = p, .ghc = g };
        const enum sample_kind kind = push_stack(&s, t, ACTIVITY_HASKELL, at);
        bool is_within = false;

        if (end) {
                (void)push_stack(&last, end, ACTIVITY_HASKELL, end_at);
                const size_t n = s.n < last.n ? s.n : last.n; /* one is all of the other, or its outer part */
                is_within = n > 0 && !memcmp(s.names + s.n - n, last.names + last.n - n, n * sizeof(*s.names));
        }
        struct time_node *node = add_running(&s, t, kind, 0);
        if (!node)
                return;
        node->sampled_ns += cpu_ns;
        node->seen.bytes += after->bytes;
        node->seen.cpu_ns += after->cpu_ns;
        if (is_within) {
                node->within.bytes += after->bytes;
                node->within.cpu_ns += after->cpu_ns;
        }
}

void stack_profile_add_waiting(struct stack_profile *p, struct ghc *g, struct threads *t, uint64_t ns)
{
        struct stack s = { .profile = p, .ghc = g };
        char state[80]; /* "(blocked on an MVar)" */

        for (size_t i = 0; i < t->n; i++) {
                struct haskell_thread *h = &t->items[i];
                s.n = 0;
                s.is_cut = false;
                const enum sample_kind kind = push_frames(&s, t, h);
                if (roots[kind])
                        s.names[s.n++] = intern_name(p, roots[kind]);
                s.names[s.n++] =
                        intern_name(p, text_join(state, sizeof(state), "(", thread_state_text(h->state), ")", NULL));
                if (p->by_thread)
                        s.names[s.n++] = name_of_thread(p, h);
                (void)add_stack(&p->waiting, &s, kind, ns);
        }
}

void stack_profile_add_names(struct stack_profile *p, struct time_tree *tree, const char *const *names, size_t n,
                             uint64_t weight)
{
        struct stack s = { .profile = p };

        for (size_t i = 0; i < n; i++)
                push_name(&s, intern_name(p, names[i]));
        (void)add_stack(tree, &s, SAMPLE_WHOLE, weight);
}

/* ------------------------------------------------------------------------------ sums */

uint64_t time_tree_samples(const struct time_tree *t)
{
        uint64_t n = 0;

        for (size_t i = 0; i < SAMPLE_KINDS; i++)
                n += t->samples[i];
        return n;
}

uint64_t time_tree_weight(const struct time_tree *t)
{
        uint64_t weight = 0;

        for (size_t i = 0; i < SAMPLE_KINDS; i++)
                weight += t->weights[i];
        return weight;
}

static void sum_weights(struct time_tree *t)
{
        for (uint32_t id = 1; id <= t->nodes.count; id++) {
                struct time_node *node = pool_at(&t->nodes, id);
                node->total_weight = node->self_weight;
                node->total_samples = node->self_samples;
        }
        for (uint32_t id = t->nodes.count; id > 0; id--) {
                const struct time_node *node = time_tree_nth(t, id);
                if (node->parent) {
                        struct time_node *parent = pool_at(&t->nodes, node->parent);
                        parent->total_weight += node->total_weight;
                        parent->total_samples += node->total_samples;
                }
        }
}

void stack_profile_sum(struct stack_profile *p)
{
        if (p->by_allocation) {
                /* Again and again: rates become better with each moment. */
                for (uint32_t id = 1; id <= p->running.nodes.count; id++) {
                        struct time_node *node = pool_at(&p->running.nodes, id);
                        const bool stays = node->within.cpu_ns > node->seen.cpu_ns / 2;
                        const struct allocated *a = stays ? &node->within : &node->seen;
                        if (!a->cpu_ns)
                                continue;
                        p->running.weights[SAMPLE_WHOLE] -= node->self_weight;
                        node->self_weight = (uint64_t)((double)node->sampled_ns * (double)a->bytes / (double)a->cpu_ns);
                        p->running.weights[SAMPLE_WHOLE] += node->self_weight;
                }
        }
        sum_weights(&p->running);
        sum_weights(&p->waiting);
}

static bool is_below_itself(const struct time_tree *t, const struct time_node *node)
{
        for (uint32_t id = node->parent; id; id = time_tree_nth(t, id)->parent)
                if (time_tree_nth(t, id)->name == node->name)
                        return true;
        return false;
}

static int by_self(const void *a, const void *b)
{
        const struct time_function *x = a, *y = b;

        if (x->self_weight != y->self_weight)
                return x->self_weight > y->self_weight ? -1 : 1;
        if (x->total_weight != y->total_weight)
                return x->total_weight > y->total_weight ? -1 : 1;
        return (x->name > y->name) - (x->name < y->name);
}

struct time_function *stack_profile_functions(const struct stack_profile *p, const struct time_tree *tree,
                                              size_t *ret_n)
{
        const uint32_t n = p->names.count;
        struct time_function *functions = n ? calloc(n, sizeof(*functions)) : NULL;

        *ret_n = functions ? n : 0;
        for (uint32_t i = 0; functions && i < n; i++)
                functions[i].name = i + 1;
        for (uint32_t id = 1; functions && id <= time_tree_count(tree); id++) {
                const struct time_node *node = time_tree_nth(tree, id);
                struct time_function *f = &functions[node->name - 1];
                f->self_weight += node->self_weight;
                f->self_samples += node->self_samples;
                if (!is_below_itself(tree, node)) {
                        f->total_weight += node->total_weight;
                        f->total_samples += node->total_samples;
                }
        }
        if (functions)
                qsort(functions, n, sizeof(*functions), by_self);
        while (*ret_n && functions[*ret_n - 1].total_samples == 0) /* of the other tree */
                --*ret_n;
        return functions;
}

/* ----------------------------------------------------------------------------- stops */

void stack_profile_add_stop(struct stack_profile *p, uint64_t ns)
{
        const unsigned cell = sketch_cell(PROFILE_STOP_BITS, ns);

        p->stops[cell < PROFILE_STOP_CELLS ? cell : PROFILE_STOP_CELLS - 1]++;
        p->n_stops++;
        if (ns > p->longest_stop_ns)
                p->longest_stop_ns = ns;
}

uint64_t stack_profile_stop_quantile(const struct stack_profile *p, double share)
{
        double left = share * (double)p->n_stops;

        for (unsigned i = 0; i < PROFILE_STOP_CELLS; i++) {
                left -= p->stops[i];
                if (p->stops[i] && left <= 0)
                        return (uint64_t)sketch_middle(PROFILE_STOP_BITS, i);
        }
        return 0;
}

uint64_t stack_profile_delay_ns(uint64_t *random, uint64_t period_ns)
{
        *random = hash_u64(*random, 1);
        return period_ns / 2 + *random % (period_ns + 1);
}
