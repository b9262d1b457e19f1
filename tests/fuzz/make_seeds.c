/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * make_seeds - valid messages for the fuzzers to start from.
 *
 *     make_seeds LOG WIRE_DIR REQUEST_DIR
 *
 * The first update of each kind from a log, and one request of each
 * kind. Wire seeds have a byte in front that chooses the message (fuzz_wire.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/wire.h"
#include "daemon/watch/targets/pipeline.h"
#include "proto/base/error.h"

enum { WIRE_UPDATE = 0, WIRE_REQUEST = 1 };

struct out {
        const char *wire, *requests;
        unsigned long kinds; /* bit: written */
};

static void write_file(const char *dir, const char *name, int first, const uint8_t *bytes, size_t size)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", dir, name);
        FILE *f = fopen(path, "wb");
        if (!f || (first >= 0 && fputc(first, f) == EOF) || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
                perror(path);
                exit(2);
        }
}

static int take_update(void *ctx, const Hw__Update *u)
{
        static uint8_t packed[1u << 20];
        struct out *out = ctx;
        unsigned kind = (unsigned)hw_update_kind(u);
        size_t size = hw__update__get_packed_size(u);
        char name[32];

        if (out->kinds & 1ul << kind || size > 4000)
                return 0;
        out->kinds |= 1ul << kind;
        snprintf(name, sizeof(name), "update-%u", kind);
        write_file(out->wire, name, WIRE_UPDATE, packed, hw__update__pack(u, packed));
        return 0;
}

static void take_request(const struct out *out, const char *name, const Hw__Request *request)
{
        uint8_t packed[1024];
        size_t size = hw__request__get_packed_size(request);

        if (size > sizeof(packed))
                abort();
        hw__request__pack(request, packed);
        write_file(out->requests, name, -1, packed, size);
        write_file(out->wire, name, WIRE_REQUEST, packed, size);
}

int main(int argc, char **argv)
{
        static uint8_t bytes[1u << 20];
        struct source_uri uri = { .kind = SOURCE_FILE };
        struct out out = { .wire = argc == 4 ? argv[2] : "", .requests = argc == 4 ? argv[3] : "" };
        struct pipeline_options options = { .name = "a", .uri = &uri, .epoch = 1, .sink = { &out, take_update } };
        struct error error;
        FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;

        if (!f) {
                fprintf(stderr, "usage: make_seeds LOG WIRE_DIR REQUEST_DIR\n");
                return 2;
        }
        size_t size = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        struct pipeline *p = pipeline_new(&options, &error);
        if (!p || pipeline_bytes(p, bytes, size) != 0 || pipeline_finish(p, NULL, false) != 0)
                return 1;
        pipeline_destroy(&p);
        char *a[] = { (char *)"a" };
        Hw__Kind kinds[] = { HW__KIND__KIND_CENSUS, HW__KIND__KIND_BAND };
        Hw__SnapshotRequest snapshot = HW__SNAPSHOT_REQUEST__INIT;
        Hw__HistoryRequest history = HW__HISTORY_REQUEST__INIT;
        Hw__StatusRequest status = HW__STATUS_REQUEST__INIT;
        Hw__AddTargetRequest add = HW__ADD_TARGET_REQUEST__INIT;
        Hw__RemoveTargetRequest take_away = HW__REMOVE_TARGET_REQUEST__INIT;
        Hw__Request r = HW__REQUEST__INIT;

        r.has_id = 1, r.id = 7;
        snapshot.n_targets = 1, snapshot.targets = a;
        snapshot.n_kinds = 2, snapshot.kinds = kinds;
        r.what_case = HW__REQUEST__WHAT_SNAPSHOT, r.snapshot = &snapshot;
        take_request(&out, "snapshot", &r);
        history.target = a[0];
        history.has_from_ns = history.has_to_ns = history.has_step_ns = 1;
        history.to_ns = UINT64_MAX, history.step_ns = 1000000000;
        history.has_series = 1, history.series = HW__SERIES__SERIES_LIVE;
        r.what_case = HW__REQUEST__WHAT_HISTORY, r.history = &history;
        take_request(&out, "history", &r);
        r.what_case = HW__REQUEST__WHAT_STATUS, r.status = &status;
        take_request(&out, "status", &r);
        add.uri = (char *)"c=fifo:/tmp/c", add.name = (char *)"c";
        r.what_case = HW__REQUEST__WHAT_ADD_TARGET, r.add_target = &add;
        take_request(&out, "add", &r);
        take_away.name = a[0];
        r.what_case = HW__REQUEST__WHAT_REMOVE_TARGET, r.remove_target = &take_away;
        take_request(&out, "remove", &r);
        return 0;
}
