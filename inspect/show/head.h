/* SPDX-License-Identifier: BSD-3-Clause */
/* head.h - what each output begins with: which program, how it is laid out, what the inspection did to it. */
#ifndef HW_INSPECT_SHOW_HEAD_H
#define HW_INSPECT_SHOW_HEAD_H

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

#endif
