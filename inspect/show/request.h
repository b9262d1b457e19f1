/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h - what `heapwatch-inspect` is to find out and print, and of what. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "heapwatch/text.h"
#include "inspect/ghc/layout.h"
#include "inspect/ghc/sample.h"
#include "inspect/ghc/graph/graph.h"
#include "proto/base/json_out.h"

enum grouping {
        BY_NAME,
        BY_TYPE,    /* as a heap profile by closure type has them */
        BY_CONTENTS /* by name, and each by what its closures hold */
};

struct inspect_request {
        pid_t pid;           /* 0: a core file, or a graph */
        const char *core;    /* the path of one of these two; NULL: none */
        const char *band;    /* of `why`; NULL: the largest */
        uint64_t band_bytes; /* that it had before, in a census; 0: not known */
        bool json, all, no_stop, once;
        bool brief;            /* of `why`: one sentence, without a head; of `threads`: few members of a group */
        bool by_thread;        /* of `profile`: stacks begin with their thread */
        bool allocation;       /* of `profile`: by bytes, in place of CPU time */
        bool waiting;          /* of `profile`: also those that wait */
        bool for_agent;        /* of `watch`: only censuses, to the agent in the program */
        bool rows;             /* of `profile`: the tree for programs, in place of the tables */
        unsigned by;           /* enum grouping: what a band is */
        unsigned frames;       /* shown of a stack */
        unsigned top;          /* bands shown in text, groups of threads in brief */
        uint64_t max_pause_ns; /* that it may be stopped for */
        uint64_t memory_bytes; /* that the inspection may need */
        uint64_t for_ns;       /* of `profile` */
        unsigned hz;           /* samples a second */
        const char *output;    /* a file for the profile, or the graph; its suffix is the format; NULL: none */
        const char *keep;      /* a file for the profile as --rows has it; NULL: none */
        const char *since;     /* of `heap`: a graph to compare with */
        bool retained;         /* of `heap`: by what would go with each type */
        uint64_t sample_bytes; /* of `heap`: read no more of the heap; 0: all, if there is memory for it */
        uint64_t seed;         /* of a sample; 0: of the time */
        bool arrays;           /* of `heap`: byte arrays by size, and what is there more than once */
        bool show_values;      /* of these: what they begin with, in text */
        FILE *to;
};

#define REST_TEXT_BYTES 256

/* What was inspected, in all outputs the same. */
struct inspect_subject {
        const struct inspect_request *request;
        const char *verb; /* "why" */
        struct program *program;
        struct ghc *ghc;
        pid_t pid;                        /* 0: not known */
        uint64_t stopped_ns;              /* 0: it was not stopped */
        bool late;                        /* it ran again before all was read */
        bool torn;                        /* collections happened while it was read without stopping it */
        uint64_t missing;                 /* bytes that are not in the core file */
        bool damaged;                     /* not all that the runtime says it holds is in the core file's heap */
        uint64_t copied;                  /* bytes of its heap */
        char rest[REST_TEXT_BYTES];       /* what of its heap is not understood; "": nothing */
        const struct heap_sample *sample; /* that was read in place of all its heap; NULL: none */
        uint64_t whole_ns; /* of a sample: for how long all of it would stop the program; 0: another reason */
};

/* A graph of what was inspected. */
struct graph_subject {
        const struct inspect_request *request;
        const struct heap_graph *graph;
        const struct inspect_subject *inspected; /* NULL: it is from a file */
        const struct heap_graph *since;          /* an older one to compare with; NULL: there is none */
};

/* head.c: what each output begins with: which program, how it is laid out, what the inspection did to it. */

/* "shop (process 1234): " and, after `what`, how it was read; then what may be wrong, a line each. */
void head_text(const struct inspect_subject *s, const char *what);

/* Members of an open object. */
void head_json(struct json_out *j, const struct inspect_subject *s);

/* The lines of head_text(), as a list of texts: a member of an open object. */
void head_sentences_json(struct json_out *j, const struct inspect_subject *s, const char *what);

/* What is kept of that in a graph. */
void head_origin(struct graph_origin *ret, const struct inspect_subject *s);

/* The same of a graph, with its cautions; one from a file has when it was made. */
void head_of_graph(const struct graph_subject *s, const char *what);
void head_json_of_graph(struct json_out *j, const struct graph_subject *s);
void head_sentences_json_of_graph(struct json_out *j, const struct graph_subject *s, const char *what);

#define GAIN_TEXT_BYTES (HW_NUMBER_MAX + 1)

/* "+3.10 MiB" */
const char *head_gain_text(char ret[GAIN_TEXT_BYTES], uint64_t now, uint64_t then);

/* A line: since when, how many bytes more there are of what is shown, and whether it was another run. */
void head_since(const struct graph_subject *s, const struct graph_origin *then, uint64_t bytes, uint64_t bytes_then);

#define PAUSE_COMMAND_BYTES 96

/* The command that stops the program for a copy that takes so long, with some to spare, or has a core file of it. */
const char *head_pause_command(char ret[PAUSE_COMMAND_BYTES], const struct inspect_subject *s, uint64_t copy_ns);
