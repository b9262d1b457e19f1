/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: identity events come at the start, at every restart of the log, and in no reliable order, so each is taken on
 * its own and what depends on two of them (the breakdown of a bare -h) is recomputed after each.
 */
#include "daemon/model/run.h"

#include <string.h>

#include "daemon/model/heap_private.h"
#include "daemon/model/state.h"
#include "heapwatch/text.h"
#include "proto/base/agent_socket.h"
#include "proto/base/rts_options.h"

void run_clear(struct run *run, uint32_t ordinal)
{
        *run = (struct run){
                .ordinal = ordinal,
                .start_wall_ns = UNKNOWN_U64,
                .max_heap_bytes = UNKNOWN_U64,
                .allocation_area_bytes = UNKNOWN_U64,
                .megablock_bytes = UNKNOWN_U64,
                .block_bytes = UNKNOWN_U64,
                .census_period_ns = UNKNOWN_U64,
                .tick_interval_ns = UNKNOWN_U64,
        };
}

void run_each_rts_option(const struct run *run, void (*each)(void *ctx, const char *option), void *ctx)
{
        struct rts_options state = { .inside = false };

        for (uint32_t i = 1; i < run->n_args; i++)
                if (rts_argument(&state, run->args[i], strlen(run->args[i])) == RTS_OPTION)
                        each(ctx, run->args[i]);
}

struct prefix_search {
        const char *prefix;
        bool found;
};

static void compare_prefix(void *ctx, const char *option)
{
        struct prefix_search *search = ctx;

        if (!strncmp(option, search->prefix, strlen(search->prefix)))
                search->found = true;
}

bool run_has_rts_option(const struct run *run, const char *prefix)
{
        struct prefix_search search = { .prefix = prefix };

        run_each_rts_option(run, compare_prefix, &search);
        return search.found;
}

/* -hX chooses a breakdown; with text after X it is a filter and chooses nothing. */
static enum breakdown breakdown_of(const struct run *run, const char *option)
{
        static const char letters[] = "cmdyrbTie"; /* in the order of enum breakdown */

        if (strncmp(option, "-h", 2) != 0)
                return BREAKDOWN_NONE;
        if (!option[2])
                return run->profiled ? BREAKDOWN_COST_CENTRE_STACK : BREAKDOWN_CLOSURE_TYPE;
        const char *letter = strchr(letters, option[2]);
        return letter && !option[3] ? (enum breakdown)(1 + (letter - letters)) : BREAKDOWN_NONE;
}

static void guess_from_option(void *ctx, const char *option)
{
        struct run *run = ctx;
        enum breakdown b = breakdown_of(run, option);

        if (b != BREAKDOWN_NONE)
                run->breakdown = b;
}

/* Before 10.0 a restarted log has no HEAP_PROF_BEGIN: then the arguments are used. */
static void guess_breakdown(struct model *m)
{
        if (m->run.census_period_ns == UNKNOWN_U64) /* no HEAP_PROF_BEGIN was seen */
                run_each_rts_option(&m->run, guess_from_option, &m->run);
}

static void read_max_heap_option(void *ctx, const char *option)
{
        uint64_t *bytes = ctx, value;

        if (!strncmp(option, "-M", 2) && hw_parse_bytes(option + 2, &value))
                *bytes = value;
}

static bool has_part(const char *way, const char *part)
{
        size_t n = strlen(part);

        for (const char *p = strchr(way, '_'); p; p = strchr(p + 1, '_'))
                if (!strncmp(p + 1, part, n) && (p[n + 1] == '_' || p[n + 1] == '\0'))
                        return true;
        return false;
}

/* "9.11.20240805" is 911; lenient, because versions come with letters and any number of parts. */
static uint32_t version_number(const char *version)
{
        uint32_t parts[2] = { 0, 0 };
        const char *p = version;

        for (unsigned i = 0; i < 2; i++) {
                for (; *p >= '0' && *p <= '9'; p++)
                        if (parts[i] < 1000)
                                parts[i] = parts[i] * 10 + (uint32_t)(*p - '0');
                if (*p++ != '.')
                        break;
        }
        return parts[0] * 100 + parts[1];
}

static void copy_word(char *to, size_t size, const char *from, size_t n)
{
        if (n > size - 1)
                n = size - 1;
        memcpy(to, from, n);
        to[n] = '\0';
}

void run_rts_identifier(struct model *m, const struct hw_event *e)
{
        struct run *run = &m->run;
        const char *text = strings_intern(&m->identity, e->payload + 4, e->size - 4);

        if (!text)
                return;
        const char *version = !strncmp(text, "GHC-", 4) ? text + 4 : text;
        const char *space = strchr(version, ' ');
        size_t n = space ? (size_t)(space - version) : strlen(version);
        run->rts_identifier = text;
        copy_word(run->ghc_version, sizeof(run->ghc_version), version, n);
        copy_word(run->rts_way, sizeof(run->rts_way), space ? space + 1 : "", space ? strlen(space + 1) : 0);
        run->ghc_number = version_number(run->ghc_version);
        run->threaded = has_part(run->rts_way, "thr");
        run->profiled = has_part(run->rts_way, "p");
        if (!strcmp(run->ghc_version, "7.8.1") || !strcmp(run->ghc_version, "7.8.2"))
                sched_use_782_codes(m);
        guess_breakdown(m);
        m->changes |= MODEL_RUN;
}

static const char *base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash && slash[1] ? slash + 1 : path;
}

/* Texts that each end with a NUL, the last one perhaps without. */
static void set_arguments(struct model *m, const char *at, size_t size)
{
        struct run *run = &m->run;
        const char *end = at + size;

        run->n_args = 0;
        while (at < end && run->n_args < RUN_MAX_ARGS) {
                const char *nul = memchr(at, '\0', (size_t)(end - at));
                const char *arg = strings_intern(&m->identity, at, (size_t)((nul ? nul : end) - at));
                if (!arg)
                        break;
                run->args[run->n_args++] = arg;
                at = nul ? nul + 1 : end;
        }
        run->program = run->n_args ? base_name(run->args[0]) : NULL;
        /*
         * Runtimes without an eventlog of their own do not log their heap's limit (HEAP_INFO_GHC); the option sets it.
         */
        if (run->generations == 0) /* no HEAP_INFO_GHC was seen */
                run_each_rts_option(run, read_max_heap_option, &run->max_heap_bytes);
        m->changes |= MODEL_RUN;
}

void run_program_args(struct model *m, const struct hw_event *e)
{
        set_arguments(m, (const char *)e->payload + 4, e->size - 4);
        guess_breakdown(m);
        heap_compare_limit(m);
}

void model_set_process(struct model *m, const struct process_identity *process)
{
        m->run.process_only = true;
        m->run.pid = process->pid;
        m->run.parent_pid = process->parent_pid;
        m->run.start_wall_ns = process->start_wall_ns;
        set_arguments(m, process->arguments, process->arguments_size);
        if (!m->run.program || !m->run.program[0]) /* a program may overwrite its arguments */
                m->run.program = strings_intern(&m->identity, process->program, strlen(process->program));
}

void model_set_host_pid(struct model *m, uint32_t pid)
{
        m->run.host_pid = pid;
        m->changes |= MODEL_RUN;
}

void run_pid(struct model *m, const struct hw_event *e)
{
        struct run *run = &m->run;
        uint32_t i = 0;

        run->pid = hw_event_u32(e, 4);
        while (i < run->n_pids && run->pids[i] != run->pid)
                i++;
        if (i == run->n_pids && i < RUN_MAX_PIDS)
                run->pids[run->n_pids++] = run->pid;
        m->changes |= MODEL_RUN;
}

void run_capset_delete(struct model *m, const struct hw_event *e)
{
        m->run.deleted_capsets = true;
}

void run_ppid(struct model *m, const struct hw_event *e)
{
        m->run.parent_pid = hw_event_u32(e, 4);
        m->changes |= MODEL_RUN;
}

void run_heap_info(struct model *m, const struct hw_event *e)
{
        struct run *run = &m->run;

        run->generations = hw_event_u16(e, 4);
        run->max_heap_bytes = hw_event_u64(e, 6);
        run->allocation_area_bytes = hw_event_u64(e, 14);
        run->megablock_bytes = hw_event_u64(e, 22);
        run->block_bytes = hw_event_u64(e, 30);
        heap_compare_limit(m);
        m->changes |= MODEL_RUN;
}

void run_heap_prof_begin(struct model *m, const struct hw_event *e)
{
        uint32_t breakdown = hw_event_u32(e, 9);

        m->run.census_period_ns = hw_event_u64(e, 1);
        m->run.profiled_by_agent = m->run.census_period_ns == AGENT_CENSUS_PERIOD_NS;
        if (m->run.profiled_by_agent) {
                m->run.census_period_ns = 0; /* as they can be had */
                gc_begin_watching(m);
        }
        if (breakdown >= BREAKDOWN_COST_CENTRE_STACK && breakdown <= BREAKDOWN_ERA)
                m->run.breakdown = (enum breakdown)breakdown;
        m->changes |= MODEL_RUN;
}

void run_prof_begin(struct model *m, const struct hw_event *e)
{
        m->run.tick_interval_ns = hw_event_u64(e, 0);
        m->changes |= MODEL_RUN;
}
