/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/profile.c - where time goes: the tree of cost centres with own and
 * inherited ticks, whose branches open and close; below it ticky counters. Or a
 * profile of CPU time, of allocation or of what waits (scene.cpu), in the same
 * tree, with the functions below it.
 *
 * DESIGN: the daemon publishes stacks with their ticks; the tree is built from them
 * (outermost cost centre first) for each frame, because it borrows from the world.
 * A node is identified by the hash of its path, so that open branches stay open.
 * The tree is walked without recursion, because its depth comes from outside.
 */
#include <stdlib.h>
#include <string.h>

#include "client/console/scene/shown.h"
#include "client/console/table/table.h"
#include "client/console/views/views.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"

/* ---------------------------------------------------------- ticky counters */

ROWS_ARE(Hw__TickyCounter, counter_of_row)

COLUMN_VALUE(name, value_text(counter_of_row(row)->name))

#define TICKY_VALUE(function_of_row, field)                                                                            \
        COLUMN_VALUE(function_of_row,                                                                                  \
                     value_number(counter_of_row(row)->has_##field, (double)counter_of_row(row)->field))

TICKY_VALUE(entries, entries)
TICKY_VALUE(allocs, allocs)
TICKY_VALUE(allocd, allocd)
TICKY_VALUE(arity, arity)

COLUMN_VALUE(kinds, value_text(counter_of_row(row)->argument_kinds))

/* clang-format off */
static const struct column ticky_columns[] = {
        { .title = "entries", .name = "entries", .unit = UNIT_COUNT, .width = 14, .value = entries,
          .help = "how often this code was entered, since the run began" },
        { .title = "allocated by", .name = "allocs_bytes", .unit = UNIT_BYTES, .width = 12, .value = allocs,
          .help = "bytes that it allocated" },
        { .title = "allocated of", .name = "allocd_bytes", .unit = UNIT_BYTES, .width = 12, .rank = 1, .value = allocd,
          .help = "bytes of its closures that were allocated" },
        { .title = "arity", .name = "arity", .unit = UNIT_COUNT, .width = 5, .rank = 2, .value = arity,
          .help = "number of arguments" },
        { .title = "kinds", .name = "argument_kinds", .width = 10, .rank = 3, .value = kinds,
          .help = "kinds of the arguments, in the RTS's letters" },
        { .title = "ticky counter", .name = "name", .width = -30, .value = name, .searched = true,
          .help = "closure; names only come at the program's end" },
};
/* clang-format on */

static void ticky_rows(const struct console *c, struct table *t)
{
        const struct world_target *target = c->scene.target;

        for (uint32_t i = 0; target && i < target->n_ticky; i++)
                table_add(t, target->ticky[i]->id, target->ticky[i]);
}

static const struct table_class ticky_table = {
        .name = "ticky",
        .empty = UNKNOWN_TEXT "  no ticky counters: build with -ticky and run with +RTS -lT",
        .columns = ticky_columns,
        .n_columns = ARRAY_SIZE(ticky_columns),
        .sort = 0,
        .rows = ticky_rows,
};

/* ----------------------------------------------------------------- profile */

enum { NONE = -1, DEPTH_SHOWN = 40, SENTENCE_TEXT = 512 };

struct node {
        const Hw__CostCentre *centre; /* NULL: the root, MAIN */
        const char *function;         /* of such a profile; NULL: of cost centres */
        uint64_t path;                /* hash */
        uint64_t own, inherited;      /* ticks; of a function ns or bytes */
        int parent, child, next;      /* caller, first child and next sibling, or NONE */
        int depth;
        bool open;
};

struct profile {
        struct node *nodes;
        size_t n, capacity;
        uint64_t *toggled; /* paths whose state is not the default */
        size_t n_toggled, toggled_capacity;
        bool out_of_memory;
};

/* -------------------------------------------------------------------- tree */

/* Below its parent, or NONE. NONE: out of memory. */
static int add_node(struct profile *p, const Hw__CostCentre *centre, uint64_t path, int parent)
{
        const int depth = parent == NONE ? 0 : p->nodes[parent].depth + 1;

        if (!ARRAY_RESERVE(p->nodes, p->capacity, p->n + 1)) {
                p->out_of_memory = true;
                return NONE;
        }
        p->nodes[p->n] = (struct node){
                .centre = centre, .path = path, .parent = parent, .child = NONE, .next = NONE, .depth = depth
        };
        return (int)p->n++;
}

static int child_of(struct profile *p, int parent, const Hw__CostCentre *centre)
{
        uint64_t path = hash_u64(centre->id, p->nodes[parent].path);
        int i;

        for (i = p->nodes[parent].child; i != NONE; i = p->nodes[i].next) {
                if (p->nodes[i].path == path)
                        return i;
        }
        i = add_node(p, centre, path, parent);
        if (i != NONE) {
                p->nodes[i].next = p->nodes[parent].child;
                p->nodes[parent].child = i;
        }
        return i;
}

static void add_stack(struct profile *p, const Hw__Stack *stack)
{
        int at = 0;

        p->nodes[0].inherited += stack->ticks;
        for (size_t i = stack->n_centres; i > 0 && at != NONE; i--) {
                at = child_of(p, at, stack->centres[i - 1]);
                if (at != NONE)
                        p->nodes[at].inherited += stack->ticks;
        }
        if (at != NONE)
                p->nodes[at].own += stack->ticks;
}

static bool is_toggled(const struct profile *p, uint64_t path)
{
        for (size_t i = 0; i < p->n_toggled; i++) {
                if (p->toggled[i] == path)
                        return true;
        }
        return false;
}

/* Open by default: nodes with at least a twentieth of all ticks. */
static bool usually_open(const struct profile *p, const struct node *n)
{
        return n->inherited * 20 >= p->nodes[0].inherited;
}

static int compare_inherited(const void *a, const void *b, void *nodes)
{
        const int x = *(const int *)a, y = *(const int *)b;
        const uint64_t of_x = ((struct node *)nodes)[x].inherited, of_y = ((struct node *)nodes)[y].inherited;

        return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : x - y;
}

/* Siblings by what they inherit, and which branches are open. Each is put first, in rising order. */
static void sort_nodes(struct profile *p)
{
        int *rising = calloc(p->n + 1, sizeof(*rising));

        if (!rising) {
                p->out_of_memory = true;
                p->n = 0;
                return;
        }
        for (size_t i = 0; i < p->n; i++) {
                rising[i] = (int)i;
                p->nodes[i].child = NONE;
                p->nodes[i].open = usually_open(p, &p->nodes[i]) != is_toggled(p, p->nodes[i].path);
        }
        qsort_r(rising, p->n, sizeof(*rising), compare_inherited, p->nodes);
        for (size_t i = 0; i < p->n; i++) {
                struct node *n = &p->nodes[rising[i]];

                if (n->parent == NONE)
                        continue;
                n->next = p->nodes[n->parent].child;
                p->nodes[n->parent].child = rising[i];
        }
        free(rising);
}

/* Below a root: node i + 1 is the tree's node i. */
static void build_of_functions(struct profile *p, const struct cpu_tree *t)
{
        if (add_node(p, NULL, 1, NONE) == NONE)
                return;
        p->nodes[0].function = "all";
        p->nodes[0].inherited = t->total_weight;
        for (uint32_t i = 0; i < t->n; i++) {
                const struct cpu_node *from = &t->nodes[i];
                const int id = add_node(p, NULL, hash_text(from->name, p->nodes[from->parent].path), (int)from->parent);

                if (id == NONE)
                        return;
                p->nodes[id].function = from->name;
                p->nodes[id].own = from->self_weight;
                p->nodes[id].inherited = from->total_weight;
        }
}

static void build_of_stacks(struct profile *p, const struct world_target *t)
{
        if (!t->n_stacks || add_node(p, NULL, 1, NONE) == NONE)
                return;
        for (uint32_t i = 0; i < t->n_stacks; i++)
                if (t->stacks[i])
                        add_stack(p, t->stacks[i]);
}

/* ------------------------------------------------------------ tree columns */

ROWS_ARE(struct node, node_of_row)

static struct value part_of(const struct scene *s, uint64_t part)
{
        const uint64_t all = s->cpu ? s->cpu->total_weight : s->target->ticks;

        return value_number(all > 0, all ? (double)part / (double)all : 0);
}

static bool has_ticks(const struct scene *s)
{
        return !s->cpu;
}

static bool has_bytes(const struct scene *s)
{
        return s->cpu && s->cpu->by_allocation;
}

static bool has_time(const struct scene *s)
{
        return !has_bytes(s);
}

COLUMN_VALUE(inherited, part_of(s, node_of_row(row)->inherited))
COLUMN_VALUE(own, part_of(s, node_of_row(row)->own))
COLUMN_VALUE(ticks, value_number(true, (double)node_of_row(row)->own))
COLUMN_VALUE(allocated, value_number(true, (double)node_of_row(row)->inherited))

static struct value time_of(const struct scene *s, const void *row)
{
        const Hw__Run *run = s->target->target ? s->target->target->run_info : NULL;
        const double tick_ns = run && run->has_tick_interval_ns ? (double)run->tick_interval_ns : 0;
        const double unit_ns = node_of_row(row)->function ? 1 : tick_ns;

        return value_number(unit_ns > 0, (double)node_of_row(row)->inherited * unit_ns);
}

static struct value label_value(const struct scene *s, const void *row)
{
        if (!node_of_row(row)->centre)
                return value_text(node_of_row(row)->function ? node_of_row(row)->function : "MAIN");
        return value_text(node_of_row(row)->centre->label ? node_of_row(row)->centre->label : "?");
}

COLUMN_VALUE(module, node_of_row(row)->centre ? value_text(node_of_row(row)->centre->module) : no_value)
COLUMN_VALUE(source, node_of_row(row)->centre ? value_text(node_of_row(row)->centre->source) : no_value)

static void draw_name(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                      const void *data)
{
        const struct node *n = node_of_row(data);
        int indent = 2 * (n->depth < DEPTH_SHOWN ? n->depth : DEPTH_SHOWN);

        if (indent > width / 2)
                indent = width / 2;
        if (n->child != NONE)
                (void)canvas_put(c, area, row, column + indent, 1, TINT_KEY, n->open ? "▾" : "▸");
        (void)canvas_put(c, area, row, column + indent + 2, width - indent - 2, n->own ? TINT_STRONG : TINT_PLAIN,
                         SAFE_TEXT(512, label_value(s, data).text));
}

/* clang-format off */
static const struct column tree_columns[] = {
        { .title = "inherited", .name = "inherited_share", .unit = UNIT_SHARE, .width = 9, .value = inherited,
          .help = "share of all ticks, CPU time or bytes allocated, those of what it calls included" },
        { .title = "own", .name = "own_share", .unit = UNIT_SHARE, .width = 7, .value = own,
          .help = "share of all ticks, CPU time or bytes allocated, in this cost centre or function itself" },
        { .title = "time", .name = "inherited_ns", .unit = UNIT_NS, .width = 9, .rank = 3, .value = time_of,
          .shown = has_time,
          .help = "inherited ticks times the tick interval, or CPU time" },
        { .title = "allocated", .name = "inherited_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 3,
          .value = allocated, .shown = has_bytes,
          .help = "bytes that it and what it calls allocated, estimated" },
        { .title = "ticks", .name = "own_ticks", .unit = UNIT_COUNT, .width = 9, .rank = 4, .value = ticks,
          .shown = has_ticks,
          .help = "own ticks since the run began" },
        { .title = "cost centre, function", .name = "label", .unit = UNIT_TEXT, .width = -32, .value = label_value,
          .draw = draw_name, .searched = true, .help = "indented below its caller; enter opens and closes a branch" },
        { .title = "module", .name = "module", .width = 20, .rank = 1, .value = module,
          .shown = has_ticks, .help = "the defining module" },
        { .title = "source", .name = "source", .width = -16, .rank = 2, .value = source,
          .shown = has_ticks, .help = "file and place" },
};
/* clang-format on */

/* Depth first, open branches only. */
static void walk_profile(const struct profile *p, struct table *t, bool all)
{
        int at = 0;

        while (at != NONE) {
                table_add(t, p->nodes[at].path, &p->nodes[at]);
                if (p->nodes[at].child != NONE && (p->nodes[at].open || all)) {
                        at = p->nodes[at].child;
                        continue;
                }
                while (p->nodes[at].next == NONE && p->nodes[at].parent != NONE)
                        at = p->nodes[at].parent;
                at = p->nodes[at].next;
        }
}

static void tree_rows(const struct console *c, struct table *t)
{
        const struct world_target *target = c->scene.target;
        struct profile *p = console_state(c);

        if (!target)
                return;
        p->n = 0;
        if (c->scene.cpu)
                build_of_functions(p, c->scene.cpu);
        else
                build_of_stacks(p, target);
        sort_nodes(p);
        if (p->n)
                walk_profile(p, t, c->printing || t->filter[0]);
        t->out_of_memory = t->out_of_memory || p->out_of_memory;
}

static void open_node(struct console *c, const void *row)
{
        struct profile *p = console_state(c);
        struct node *n = &p->nodes[node_of_row(row) - p->nodes];

        if (n->child == NONE)
                return;
        n->open = !n->open;
        for (size_t i = 0; i < p->n_toggled; i++) {
                if (p->toggled[i] == n->path) {
                        p->toggled[i] = p->toggled[--p->n_toggled];
                        return;
                }
        }
        if (!ARRAY_RESERVE(p->toggled, p->toggled_capacity, p->n_toggled + 1))
                return; /* out of memory: it closes when the tree is next built */
        p->toggled[p->n_toggled++] = n->path;
}

static const struct table_class tree = {
        .name = "stacks",
        .empty = UNKNOWN_TEXT
        "  no time profile: P takes one of CPU time, A of allocation; or build with -prof and run with +RTS -p -l "
        "(GHC 9.4 and newer: -lp)",
        .columns = tree_columns,
        .n_columns = ARRAY_SIZE(tree_columns),
        .sort = SIZE_MAX,
        .rows = tree_rows,
        .open = open_node,
};

/* --------------------------------------------------------------- functions */

ROWS_ARE(struct cpu_function, function_of_row)

COLUMN_VALUE(function_name, value_text(function_of_row(row)->name))
COLUMN_VALUE(function_self, part_of(s, function_of_row(row)->self_weight))
COLUMN_VALUE(function_total, part_of(s, function_of_row(row)->total_weight))
COLUMN_VALUE(function_weight, value_number(true, (double)function_of_row(row)->self_weight))

/* clang-format off */
static const struct column function_columns[] = {
        { .title = "self", .name = "self_share", .unit = UNIT_SHARE, .width = 9, .value = function_self,
          .help = "share of the time in the function itself, or of what it allocated, whoever calls it" },
        { .title = "total", .name = "total_share", .unit = UNIT_SHARE, .width = 7, .value = function_total,
          .help = "the same with all that it calls" },
        { .title = "self time", .name = "self_ns", .unit = UNIT_NS, .width = 9, .rank = 1, .value = function_weight,
          .shown = has_time,
          .help = "time in the function itself; of what waits, of all threads together" },
        { .title = "allocated", .name = "self_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 1,
          .value = function_weight, .shown = has_bytes,
          .help = "bytes that the function itself allocated, estimated" },
        { .title = "function", .name = "name", .width = -32, .value = function_name, .searched = true,
          .help = "by its symbol, a local one by its module and the next symbol; in brackets what is no function" },
};
/* clang-format on */

static void function_rows(const struct console *c, struct table *t)
{
        const struct cpu_tree *cpu = c->scene.cpu;

        for (size_t i = 0; cpu && i < cpu->n_functions; i++)
                if (cpu->functions[i].self_weight)
                        table_add(t, i, &cpu->functions[i]);
}

static const struct table_class function_table = {
        .name = "functions",
        .empty = "",
        .columns = function_columns,
        .n_columns = ARRAY_SIZE(function_columns),
        .sort = 0,
        .rows = function_rows,
};

/* -------------------------------------------------------------------- view */

/* How far the profile is that is being taken, or what the shown one is of. Returns its rows. */
static int draw_sentences(struct console *c, struct canvas *canvas, struct area area)
{
        const struct cpu_tree *cpu = c->scene.cpu;
        char text[SENTENCE_TEXT];
        int row = 0;

        if (*console_profile_text(c, text, sizeof(text)))
                (void)canvas_put(canvas, area, row++, 1, area.width - 2, TINT_STRONG,
                                 SAFE_TEXT(2 * SENTENCE_TEXT, text));
        for (size_t i = 0; cpu && row == (int)i && i < cpu->n_sentences && row < area.height / 4; i++)
                (void)canvas_put(canvas, area, row++, 1, area.width - 2, TINT_DIM,
                                 SAFE_TEXT(2 * SENTENCE_TEXT, cpu->sentences[i]));
        return row;
}

/* Each table gets what it needs; one without rows gets two lines. */
static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *upper = &c->shown->tables[0], *lower = &c->shown->tables[c->scene.cpu ? 2 : 1];

        area = area_below(area, draw_sentences(c, canvas, area));

        int below = lower->n ? (int)lower->n + 1 : 2;
        struct area part = area;

        if (!upper->n && lower->n)
                below = area.height - 3;
        else if (below > area.height / 3 && lower->n)
                below = c->table == lower ? area.height * 2 / 3 : area.height / 3;
        if (below > area.height - 3)
                below = area.height - 3;
        part.height = area.height - below - 1;
        console_table(c, canvas, part, upper);
        part = area_below(area, part.height + 1);
        console_table(c, canvas, part, lower);
}

static int wanted_width(struct console *c, int width)
{
        size_t n = c->shown->tables[0].n + c->shown->tables[1].n; /* a report has no profile of CPU time */

        return n > CANVAS_MAX - 8 ? CANVAS_MAX : (int)n + 8;
}

static void release_profile(void *state)
{
        struct profile *p = state;

        free(p->nodes);
        free(p->toggled);
}

static const struct console_key keys[] = {
        { "enter", "open, close" },
        { "tab", "ticky counters, functions" },
        { "P", "profile of CPU time" },
        { "A", "of allocation" },
        { "T", "by thread" },
        { "w", "what waits" },
        { "x", "cost centres" },
        { "/", "search" },
        { "f", "filter" },
        { NULL, NULL },
};

const struct console_view view_profile = {
        .name = "profile",
        .title = "Profile",
        .brief = "Prof",
        .letter = 'p',
        .about =
                "Where time goes, by cost centre: a tick is a sample of the running cost-centre stack, or of the stack "
                "of a thread that a program took itself, by ghc-stack-profiler. Below: ticky "
                "counters, entries and allocation of each closure. Or by function, after P: a profile of CPU time, "
                "top down, which needs no profiling build; below, the functions by their own time. By w the same of "
                "the time for which Haskell threads wait; after A of the bytes that they allocate. `heapwatch profile` "
                "has more of it, and files.",
        .keys = keys,
        .tables = { &tree, &ticky_table, &function_table },
        .state_size = sizeof(struct profile),
        .state_done = release_profile,
        .draw = draw_view,
        .rows = wanted_width,
        .key = console_profile_toggle,
};
