/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the identity of a run. A program's arguments may hold secrets and are published only on
 * request; RTS options are needed to interpret the numbers and always are. The environment never gets this far.
 */
#include "daemon/publish/encode.h"

/* Collects options; there cannot be more than RUN_MAX_ARGS. */
struct options {
        struct encoder *encoder;
        char **texts;
        size_t n;
};

static void add_option(void *ctx, const char *option)
{
        struct options *o = ctx;
        char *text = encoder_text(o->encoder, option);

        if (text && o->n < RUN_MAX_ARGS)
                o->texts[o->n++] = text;
}

/* Fields that are 0 until they have been logged. */
static void put_numbers(Hw__Run *out, const struct run *run)
{
        if (run->pid)
                PUT(out, pid, run_process(run));
        if (run->parent_pid)
                PUT(out, parent_pid, run->parent_pid);
        if (run->capabilities)
                PUT(out, capabilities, run->capabilities);
        if (run->generations)
                PUT(out, generations, run->generations);
        if (run->max_heap_bytes)
                PUT_U64(out, max_heap_bytes, run->max_heap_bytes);
        PUT_U64(out, start_wall_ns, run_anchor_wall_ns(run));
        PUT_U64(out, allocation_area_bytes, run->allocation_area_bytes);
        PUT_U64(out, megablock_bytes, run->megablock_bytes);
        PUT_U64(out, block_bytes, run->block_bytes);
        PUT_U64(out, census_period_ns, run->census_period_ns);
        PUT_U64(out, tick_interval_ns, run->tick_interval_ns);
        if (run->breakdown != BREAKDOWN_NONE)
                PUT(out, breakdown, (Hw__Breakdown)run->breakdown);
}

Hw__Run *encode_run(struct encoder *e, const struct run *run, bool show_arguments, bool local)
{
        Hw__Run *out = encoder_message(e, &hw__run__descriptor);

        if (!out)
                return NULL;
        out->program = encoder_text(e, run->program);
        if (show_arguments) {
                struct options all = { .encoder = e, .texts = encoder_calloc(e, RUN_MAX_ARGS, sizeof(char *)) };

                if (all.texts) {
                        for (uint32_t i = 0; i < run->n_args; i++)
                                add_option(&all, run->args[i]);
                        out->arguments = all.texts;
                        out->n_arguments = all.n;
                }
        }
        struct options options = { .encoder = e, .texts = encoder_calloc(e, RUN_MAX_ARGS, sizeof(char *)) };

        if (options.texts) {
                run_each_rts_option(run, add_option, &options);
                out->rts_options = options.texts;
                out->n_rts_options = options.n;
        }
        out->rts_identifier = encoder_text(e, run->rts_identifier);
        if (run->ghc_version[0])
                out->ghc_version = encoder_text(e, run->ghc_version);
        if (run->rts_way[0]) {
                out->rts_way = encoder_text(e, run->rts_way);
                PUT(out, threaded, run->threaded);
                PUT(out, profiled, run->profiled);
        }
        put_numbers(out, run);
        if (run->no_census[0])
                out->no_census = encoder_text(e, run->no_census);
        PUT(out, local, local);
        if (run->process_only)
                PUT(out, process_only, true);
        return out;
}
