/* SPDX-License-Identifier: BSD-3-Clause */
/* made_log.h - the parts of a made-up log, shaped like those of GHC 9.10: header, identity, collections, censuses. */
#pragma once

#include "daemon/model/run.h"
#include "proto/eventlog/writer.h"

#define MS UINT64_C(1000000)

static void put_header(struct eventlog_writer *o)
{
        static const struct {
                uint16_t id, size;
                const char *name;
        } types[] = {
                { 9, 0, "Starting GC" },
                { 10, 0, "Finished GC" },
                { 12, 0, "Request parallel GC" },
                { 18, 14, "Block marker" },
                { 19, WRITER_VARIABLE, "User message" },
                { 29, WRITER_VARIABLE, "RTS name and version" },
                { 43, 16, "Wall clock time" },
                { 49, 12, "Total heap memory ever allocated" },
                { 50, 12, "Current heap size (number of allocated mblocks)" },
                { 51, 12, "Current heap live data" },
                { 52, 38, "Heap static parameters" },
                { 53, 58, "GC statistics" },
                { 54, 0, "Synchronise stop-the-world GC" },
                { 90, 16, "The RTS attempted to return memory" },
                { 91, 12, "Current heap size (number of allocated blocks)" },
                { 160, WRITER_VARIABLE, "Start of heap profile" },
                { 162, 8, "Start of heap profile sample" },
                { 164, WRITER_VARIABLE, "Heap profile string sample" },
                { 165, 8, "End of heap profile sample" },
                { 169, WRITER_VARIABLE, "An IPE entry" },
        };

        writer_header_begin(o);
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
                writer_type(o, types[i].id, types[i].size, types[i].name);
        writer_header_end(o);
}

static void put_profile_begin(struct eventlog_writer *o, uint64_t interval_ns, enum breakdown breakdown)
{
        writer_event(o, 160, MS);
        size_t begin = writer_length_begin(o);
        writer_number(o, 0, 1);
        writer_number(o, interval_ns, 8);
        writer_number(o, breakdown, 4);
        for (unsigned i = 0; i < 7; i++)
                writer_string(o, "");
        writer_length_end(o, begin, 0);
}

static void put_identity(struct eventlog_writer *o, uint64_t began_s)
{
        static const char name[] = "GHC-9.10.3 rts_thr";

        writer_event(o, 29, MS);
        size_t begin = writer_length_begin(o);
        writer_number(o, 0, 4);
        writer_bytes(o, name, sizeof(name) - 1);
        writer_length_end(o, begin, 0);
        writer_event(o, 43, MS);
        writer_number(o, 0, 4);
        writer_number(o, began_s, 8);
        writer_number(o, 0, 4);
        writer_event(o, 52, MS);
        writer_number(o, 0, 4);
        writer_number(o, 2, 2);
        writer_number(o, 0, 8);
        writer_number(o, 4u << 20, 8);
        writer_number(o, 1u << 20, 8);
        writer_number(o, 4096, 8);
}

static void put_gauge(struct eventlog_writer *o, uint16_t id, uint64_t time_ns, uint64_t bytes)
{
        writer_event(o, id, time_ns);
        writer_number(o, 0, 4);
        writer_number(o, bytes, 8);
}

/* A collection, its own block; a major one (generation 1) also gives the bytes that live. */
static void put_collection(struct eventlog_writer *o, uint64_t time_ns, uint16_t generation, uint64_t allocated,
                           uint64_t live)
{
        uint64_t end_ns = time_ns + 900000;

        writer_block_begin(o, time_ns - 1000, end_ns, 0);
        writer_event(o, 12, time_ns - 1000);
        writer_event(o, 9, time_ns);
        writer_event(o, 90, end_ns);
        writer_number(o, 0, 4);
        writer_number(o, 180, 4);
        writer_number(o, 150, 4);
        writer_number(o, 3, 4);
        put_gauge(o, 49, end_ns, allocated);
        writer_event(o, 54, end_ns);
        writer_event(o, 53, end_ns);
        writer_number(o, 0, 4);
        writer_number(o, generation, 2);
        writer_number(o, live, 8);
        writer_number(o, live / 50, 8);
        writer_number(o, live / 20, 8);
        writer_number(o, 1, 4);
        writer_number(o, live, 8);
        writer_number(o, live, 8);
        writer_number(o, 0, 8);
        writer_event(o, 10, end_ns);
        if (generation == 1)
                put_gauge(o, 51, end_ns, live);
        put_gauge(o, 50, end_ns, live * 3);
        put_gauge(o, 91, end_ns, live * 2);
        writer_block_end(o);
}

/* Begin or end of a census. */
static void put_mark(struct eventlog_writer *o, uint16_t id, uint64_t time_ns)
{
        writer_event(o, id, time_ns);
        writer_number(o, 0, 8);
}
