/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - one query: prepared, its mistakes reported, its rows printed, drawn or stored. */
#ifndef HW_CLIENT_QUERY_ANSWER_H
#define HW_CLIENT_QUERY_ANSWER_H

#include "client/cli/command.h"
#include "client/query/chart.h"
#include "client/query/module.h"
#include "client/query/print.h"

struct query_output {
        enum query_format format;
        enum query_chart chart;
        const char *file; /* NULL: standard output */
};

/* Whether a file of that name is a database, in which tables are stored. */
bool query_is_database(const char *file);

/* The exit status; what is wrong is reported in the command's name. */
int query_answer(const struct command *c, struct query *q, const char *sql, const struct query_output *output);

/* Stores whole tables or views in a database, each under its name. The exit status. */
int query_store(const struct command *c, struct query *q, const char *const *tables, size_t n, const char *file);

#endif
