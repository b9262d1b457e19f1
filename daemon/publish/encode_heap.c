/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: gauges one to one. The process part is present as soon as one of its numbers is known. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/model/sizing.h"
#include "daemon/publish/encode.h"
#include "daemon/publish/sentences.h"
#include "heapwatch/text.h"
#include "proto/base/ckd.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"
#include "proto/wire/resident_parts.h"

static bool is_process_known(const struct process_sample *p)
{
        return p->rss_bytes != UNKNOWN_U64 || p->pss_bytes != UNKNOWN_U64 || p->swap_bytes != UNKNOWN_U64 ||
               p->cpu_ns != UNKNOWN_U64 || p->threads != UNKNOWN_U64 || p->cgroup_current_bytes != UNKNOWN_U64 ||
               p->cgroup_max_bytes != UNKNOWN_U64;
}

static Hw__Process *encode_process(struct encoder *e, const struct process_sample *p)
{
        Hw__Process *out = encoder_message(e, &hw__process__descriptor);

        if (!out)
                return NULL;
        PUT_U64(out, rss_bytes, p->rss_bytes);
        PUT_U64(out, pss_bytes, p->pss_bytes);
        PUT_U64(out, swap_bytes, p->swap_bytes);
        PUT_U64(out, cpu_ns, p->cpu_ns);
        PUT_U32(out, threads, p->threads);
        PUT_U64(out, minor_faults, p->minor_faults);
        PUT_U64(out, major_faults, p->major_faults);
        PUT_U64(out, address_space_bytes, p->address_space_bytes);
        PUT_U64(out, address_space_limit_bytes, p->address_space_limit_bytes);
        PUT_U64(out, cgroup_current_bytes, p->cgroup_current_bytes);
        PUT_U64(out, cgroup_max_bytes, p->cgroup_max_bytes);
        if (p->cgroup_shared != UNKNOWN_U64)
                PUT(out, cgroup_shared, p->cgroup_shared != 0);
        if (p->cgroup_shared != UNKNOWN_U64)
                out->cgroup = encoder_text(e, p->cgroup);
        PUT_U64(out, sampled_wall_ns, p->wall_ns);
        return out;
}

static bool reads_alike(uint64_t a_bytes, uint64_t b_bytes)
{
        char a[HW_NUMBER_MAX], b[HW_NUMBER_MAX];

        return !strcmp(hw_bytes_text(a, sizeof(a), (double)a_bytes), hw_bytes_text(b, sizeof(b), (double)b_bytes));
}

/*
 * A large process is counted less often than it is looked at, and live data are measured by major collections alone:
 * then the text says how old its numbers are, so that none differs without a word from those shown beside it.
 */
static void put_ages(struct text_out *t, const struct heap *heap)
{
        const struct resident *r = &heap->resident;
        const struct process_sample *newest = &heap->process;
        const uint64_t live_bytes = r->parts[RESIDENT_LIVE];
        const bool has_newest = newest->wall_ns != UNKNOWN_U64 && newest->rss_bytes != UNKNOWN_U64;
        const bool has_live = r->live_time_ns != UNKNOWN_U64 && live_bytes != UNKNOWN_U64;
        const uint64_t counted_ns = has_newest ? sub_sat(newest->wall_ns, r->wall_ns) : 0;
        const uint64_t live_ns = has_live ? sub_sat(r->time_ns, r->live_time_ns) : 0;
        char age[HW_NUMBER_MAX], rss[HW_NUMBER_MAX];

        const bool differs = counted_ns > 0 && !reads_alike(r->rss_bytes, newest->rss_bytes);
        const bool old = live_ns > OLD_NUMBER_NS || (live_ns > 0 && !reads_alike(live_bytes, heap->live_bytes));
        if (!differs && !old)
                return;
        text_put(t, " (");
        if (differs) {
                text_put(t, "counted ");
                text_put(t, hw_duration_text(age, sizeof(age), (double)counted_ns));
                text_put(t, " before the newest RSS, ");
                text_put(t, hw_bytes_text(rss, sizeof(rss), (double)newest->rss_bytes));
        }
        text_put(t, differs && old ? "; " : "");
        if (old) {
                text_put(t, "live data measured ");
                text_put(t, hw_duration_text(age, sizeof(age), (double)live_ns));
                text_put(t, " before that count");
        }
        text_put(t, ")");
}

static void encode_files(struct encoder *e, const struct mapped_file *files, Hw__Resident *out)
{
        out->mapped = encoder_calloc(e, MAPPED_FILES, sizeof(Hw__MappedFile *));
        for (unsigned i = 0; !e->failed && i < MAPPED_FILES && files[i].path[0]; i++) {
                Hw__MappedFile *file = encoder_message(e, &hw__mapped_file__descriptor);
                if (!file)
                        return;
                file->path = encoder_text(e, files[i].path);
                PUT_U64(file, resident_bytes, files[i].resident_bytes);
                PUT_U64(file, dirty_bytes, files[i].dirty_bytes);
                PUT_U64(file, held_bytes, files[i].held_bytes);
                out->mapped[out->n_mapped++] = file;
        }
}

static Hw__Resident *encode_resident(struct encoder *e, const struct heap *heap)
{
        const struct resident *r = &heap->resident;
        Hw__Resident *out = encoder_message(e, &hw__resident__descriptor);

        if (!out)
                return NULL;
        PUT_U64(out, rss_bytes, r->rss_bytes);
        PUT_U64(out, live_bytes, r->parts[RESIDENT_LIVE]);
        PUT_U64(out, reserve_bytes, r->parts[RESIDENT_RESERVE]);
        PUT_U64(out, kept_bytes, r->parts[RESIDENT_KEPT]);
        PUT_U64(out, given_back_bytes, r->parts[RESIDENT_GIVEN_BACK]);
        PUT_U64(out, files_bytes, r->parts[RESIDENT_FILES]);
        PUT_U64(out, foreign_bytes, r->parts[RESIDENT_FOREIGN]);
        if (r->unknown_bytes)
                PUT_U64(out, unknown_bytes, r->unknown_bytes);
        PUT_U64(out, absent_bytes, r->absent_bytes);
        PUT_U64(out, time_ns, r->time_ns);
        PUT_U64(out, sampled_wall_ns, r->wall_ns);
        PUT_U64(out, heap_time_ns, r->heap_time_ns);
        PUT_U64(out, live_time_ns, r->live_time_ns);
        if (out->has_foreign_bytes && heap->process.pages.shared_bytes <= out->foreign_bytes)
                PUT_U64(out, shared_bytes, heap->process.pages.shared_bytes);
        encode_files(e, heap->process.pages.files, out);
        char text[SENTENCE_MAX], part[SENTENCE_MAX];
        struct text_out t;

        text_out_init(&t, text, sizeof(text));
        text_put(&t, resident_text(part, sizeof(part), out));
        put_ages(&t, heap);
        text_put(&t, resident_files_text(part, sizeof(part), out));
        out->text = encoder_copy(e, text);
        return out;
}

Hw__Heap *encode_heap(struct encoder *e, const struct run *run, const struct heap *heap)
{
        Hw__Heap *out = encoder_message(e, &hw__heap__descriptor);

        if (!out)
                return NULL;
        PUT_U64(out, live_bytes, heap->live_bytes);
        if (heap->live_bytes != UNKNOWN_U64)
                PUT_U64(out, live_time_ns, heap->live_time_ns);
        PUT_U64(out, heap_size_bytes, heap->heap_size_bytes);
        PUT_U64(out, blocks_size_bytes, heap->blocks_size_bytes);
        PUT_U32(out, megablocks_held, heap->megablocks_held);
        PUT_U32(out, megablocks_needed, heap->megablocks_needed);
        PUT_U32(out, megablocks_returned, heap->megablocks_returned);
        PUT_U64(out, allocated_bytes, heap->allocated_bytes);
        PUT_DOUBLE(out, allocation_rate_bps, heap->allocation_rate_bps);
        PUT_U64(out, max_live_bytes, heap->max_live_bytes);
        PUT_U64(out, live_samples, heap->live_samples);
        PUT_U64(out, max_heap_size_bytes, heap->max_heap_size_bytes);
        if (is_process_known(&heap->process))
                out->process = encode_process(e, &heap->process);
        if (heap->resident.rss_bytes != UNKNOWN_U64)
                out->resident = encode_resident(e, heap);
        /* The heap compared with what its live data needs. */
        struct sizing s = sizing_of(run, heap);
        char sentence[SENTENCE_MAX];

        if (heap->live_bytes != UNKNOWN_U64 && heap->heap_size_bytes != UNKNOWN_U64) {
                PUT_U64(out, needed_heap_bytes, sizing_heap(&s, heap->live_bytes));
                PUT_U64(out, unneeded_bytes, sizing_beyond(&s, heap->live_bytes, heap->heap_size_bytes));
                (void)sentence_sizing(sentence, sizeof(sentence), run, heap);
                out->sizing = encoder_copy(e, sentence);
        }
        /* What is known of the facts that have no field. */
        out->fact = encoder_calloc(e, CARRIED_FACTS, sizeof(*out->fact));
        out->fact_value = encoder_calloc(e, CARRIED_FACTS, sizeof(*out->fact_value));
        for (unsigned i = 0; !e->failed && i < CARRIED_FACTS; i++)
                if (!isnan(heap->facts[i])) {
                        out->fact[out->n_fact++] = facts_key(carried_facts[i]);
                        out->fact_value[out->n_fact_value++] = heap->facts[i];
                }
        return out;
}
