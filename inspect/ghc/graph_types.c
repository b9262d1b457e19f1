/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/roots.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/census.h"
#include "inspect/ghc/closure.h"
#include "inspect/ghc/names.h"
#include "proto/base/array.h"
#include "proto/base/text_out.h"

static enum graph_kind kind_of(unsigned type)
{
        switch (type) {
        case TSO:
                return GRAPH_THREAD;
        case STACK:
                return GRAPH_STACK;
        case IND:
        case BLACKHOLE:
        case BLOCKING_QUEUE:
                return GRAPH_PASSAGE;
        default:
                return GRAPH_CLOSURE;
        }
}

uint32_t graph_type_of_closure(struct graph_types *t, const struct closure_table *table)
{
        char name[CLOSURE_NAME_BYTES], by_type[CLOSURE_NAME_BYTES];

        if (!ARRAY_RESERVE_ZEROED(t->closures, t->closures_capacity, table->id + 1u)) {
                t->graph->out_of_memory = true;
                return 0;
        }
        if (!t->closures[table->id]) {
                closure_name(t->program, table, false, name, sizeof(name));
                closure_name(t->program, table, true, by_type, sizeof(by_type));
                t->closures[table->id] = 1 + heap_graph_type(t->graph, kind_of(table->type), name, by_type);
        }
        return t->closures[table->id] - 1;
}

uint32_t graph_type_of_frame(struct graph_types *t, const struct closure_table *table)
{
        char name[PROGRAM_NAME_BYTES], source[NAME_SOURCE_BYTES], text[2 * PROGRAM_NAME_BYTES];

        if (!ARRAY_RESERVE_ZEROED(t->frames, t->frames_capacity, table->id + 1u)) {
                t->graph->out_of_memory = true;
                return GRAPH_TYPE_NONE;
        }
        if (!t->frames[table->id]) {
                const enum name_kind kind = name_of_code(t->program, table->at, name, sizeof(name));
                const char *own = name_without_package(name);
                name_of_source(t->program, table->at, source);
                (void)text_join(text, sizeof(text), kind == NAME_LOCAL ? "a frame in " : "frame of ", own,
                                source[0] ? " (" : "", source, source[0] ? ")" : "", NULL);
                t->frames[table->id] = name_is_of_runtime(own)
                                               ? GRAPH_TYPE_NONE
                                               : 1 + heap_graph_type(t->graph, GRAPH_FRAME, text, "frame");
        }
        return t->frames[table->id] == GRAPH_TYPE_NONE ? GRAPH_TYPE_NONE : t->frames[table->id] - 1;
}

void graph_types_done(struct graph_types *t)
{
        free(t->closures);
        free(t->frames);
        *t = (struct graph_types){ .graph = NULL };
}
