/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * part.h - the part of a run to compare, as given by an option: "FROM..TO", each of which is empty (the run's start,
 * its end), a time since the start ("90s", "5m"), a share of the run ("25%"), or "note:TEXT", the first note of the
 * program that contains TEXT (as TO: the first one after FROM).
 */
#ifndef HW_CLIENT_DIFF_PART_H
#define HW_CLIENT_DIFF_PART_H

#include <stdbool.h>
#include <stdint.h>

struct error;

enum edge_kind { EDGE_OPEN, EDGE_TIME, EDGE_SHARE, EDGE_NOTE };

struct part_edge {
        enum edge_kind kind;
        uint64_t ns;
        double share; /* 0..1 */
        char *note;   /* owned */
};

struct part {
        struct part_edge from, to;
        char *text; /* owned; as it was written; NULL: the whole run */
};

/* False with a message in `error`. All bytes 0 is the whole run. */
bool part_parse(struct part *s, const char *text, struct error *error);
void part_done(struct part *s);

/* Whether the part depends on the run's length or its notes: then its log is read twice. */
bool part_needs_run(const struct part *s);

/* A run as its first reading found it. */
struct extent {
        uint64_t first_ns, last_ns; /* of its events */
        bool has_from, has_to;      /* the edges given as notes were found */
        uint64_t from_ns, to_ns;
};

/* Event times, both ends included. False with a message in `error`: no such note, or an empty part. */
bool part_resolve(const struct part *s, const struct extent *run, uint64_t *ret_from_ns, uint64_t *ret_to_ns,
                  struct error *error);

#endif
