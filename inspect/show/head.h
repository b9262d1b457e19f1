/* SPDX-License-Identifier: BSD-3-Clause */
/* head.h - what each output begins with: which program, how it is laid out, what the inspection did to it. */
#ifndef HW_INSPECT_SHOW_HEAD_H
#define HW_INSPECT_SHOW_HEAD_H

#include "heapwatch/text.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"

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

#endif
