/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_census_log - the log of a program with a heap profile of any size,
 * shaped like those of GHC 9.10: definitions first, then a major collection
 * and a census after each interval. For logs that are too large to be shipped.
 *
 *   make_census_log OUT BANDS TABLES CENSUSES INTERVAL_MS
 *
 * TABLES 0: -hT, a band is a constructor's name. Otherwise -hi: the number of
 * info tables defined; the bands are the first of them. Every band has a
 * row in every census, of changing size.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/made_log.h"

#define ROOM_OF_ROW 1024u /* a block is closed before less than this is left */
#define FIRST_TABLE UINT64_C(0x42a4b8)
#define TABLE_STEP  24u

struct plan {
        uint32_t bands, tables, censuses;
        uint64_t interval_ns;
};

/* ------------------------------------------------------------ definitions */

static void put_table(struct eventlog_writer *o, uint32_t i)
{
        char text[128];

        writer_event(o, 169, MS);
        size_t begin = writer_length_begin(o);
        writer_number(o, FIRST_TABLE + (uint64_t)i * TABLE_STEP, 8);
        snprintf(text, sizeof(text), "sat_s%" PRIu32 "_info", i);
        writer_string(o, text);
        writer_string(o, i % 3 ? "15" : "9");
        snprintf(text, sizeof(text), "Map Text (Entry%" PRIu32 ")", i % 400);
        writer_string(o, text);
        snprintf(text, sizeof(text), "handle%" PRIu32, i % 5000);
        writer_string(o, text);
        snprintf(text, sizeof(text), "Service.Part%" PRIu32 ".Store", i % 300);
        writer_string(o, text);
        snprintf(text, sizeof(text), "src/Service/Part%" PRIu32 "/Store.hs:%" PRIu32 ":%" PRIu32 "-%" PRIu32, i % 300,
                 i / 300 + 1, i % 40, i % 40 + 17);
        writer_string(o, text);
        writer_length_end(o, begin, 1); /* the RTS announces one byte too many */
}

/* Writes what is there and begins again. */
static void flush(struct eventlog_writer *o, FILE *f)
{
        if (o->failed || fwrite(o->data, 1, o->n, f) != o->n) {
                fputs("make_census_log: a block is too large, or the disk is full\n", stderr);
                exit(2);
        }
        o->n = 0;
}

static void put_start(struct eventlog_writer *o, FILE *f, const struct plan *plan)
{
        put_header(o);
        writer_block_begin(o, MS, MS, HW_CAP_NONE);
        put_identity(o, 1700000000);
        put_profile_begin(o, plan->interval_ns, plan->tables ? BREAKDOWN_INFO_TABLE : BREAKDOWN_CLOSURE_TYPE);
        for (uint32_t i = 0; i < plan->tables; i++) {
                if (WRITER_BYTES - o->n < ROOM_OF_ROW) {
                        writer_block_end(o);
                        flush(o, f);
                        writer_block_begin(o, MS, MS, HW_CAP_NONE);
                }
                put_table(o, i);
        }
        writer_block_end(o);
        flush(o, f);
}

/* ----------------------------------------------------------------- samples */

static void put_row(struct eventlog_writer *o, const struct plan *plan, uint64_t time_ns, uint32_t band,
                    uint32_t number)
{
        char label[128];

        writer_event(o, 164, time_ns);
        size_t begin = writer_length_begin(o);
        writer_number(o, 0, 1);
        writer_number(o, 1000 + (uint64_t)(band * 7919u + number * 104729u) % 1000000u * 8, 8);
        if (plan->tables)
                snprintf(label, sizeof(label), "0x%" PRIx64, FIRST_TABLE + (uint64_t)band * TABLE_STEP);
        else
                snprintf(label, sizeof(label), "main:Service.Part%" PRIu32 ".Constructor%" PRIu32, band % 40, band);
        writer_string(o, label);
        writer_length_end(o, begin, 0);
}

static void put_census(struct eventlog_writer *o, FILE *f, const struct plan *plan, uint64_t time_ns, uint32_t number)
{
        writer_block_begin(o, time_ns, time_ns, HW_CAP_NONE);
        put_mark(o, 162, time_ns);
        for (uint32_t band = 0; band < plan->bands; band++) {
                if (WRITER_BYTES - o->n < ROOM_OF_ROW) {
                        writer_block_end(o);
                        flush(o, f);
                        writer_block_begin(o, time_ns, time_ns, HW_CAP_NONE);
                }
                put_row(o, plan, time_ns, band, number);
        }
        put_mark(o, 165, time_ns);
        writer_block_end(o);
}

int main(int argc, char **argv)
{
        static struct eventlog_writer o;

        if (argc != 6) {
                fprintf(stderr, "usage: make_census_log OUT BANDS TABLES CENSUSES INTERVAL_MS\n");
                return 2;
        }
        struct plan plan = {
                .bands = (uint32_t)strtoul(argv[2], NULL, 10),
                .tables = (uint32_t)strtoul(argv[3], NULL, 10),
                .censuses = (uint32_t)strtoul(argv[4], NULL, 10),
                .interval_ns = strtoull(argv[5], NULL, 10) * MS,
        };
        FILE *f = fopen(argv[1], "wb");
        if (!f || plan.interval_ns == 0) {
                perror(argv[1]);
                return 2;
        }
        put_start(&o, f, &plan);
        for (uint32_t i = 1; i <= plan.censuses; i++) {
                uint64_t time_ns = plan.interval_ns * i + MS;
                put_collection(&o, time_ns, 1, (uint64_t)i << 23, (64u << 20) + (uint64_t)i * 4096);
                flush(&o, f);
                put_census(&o, f, &plan, time_ns, i);
                flush(&o, f);
        }
        if (fwrite("\xff\xff", 1, 2, f) != 2 || fclose(f) != 0) {
                perror(argv[1]);
                return 2;
        }
        return 0;
}
