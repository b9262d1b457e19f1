/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complete.h - candidates for the last word of a command line, from the tables,
 * for the shells' completion. Lines "candidate" or "candidate<TAB>meaning", and
 * ":files" where file names may follow. It never fails: at worst it offers
 * nothing.
 */
#pragma once

#include <stdio.h>

#include "proto/cli/options.h"

/* Where the last word is, for a function that knows its values. */
struct complete_place {
        const struct command *command;
        enum complete what;
        const char *operands[8]; /* before it */
        size_t n_operands;
        const char *prefix; /* of each candidate: "--name=", "a,b," */
        size_t n_prefix;
        const char *word; /* the typed part, without the prefix */
        FILE *to;
};

/* Offers one candidate if it begins as the word does; text may be NULL. */
void complete_offer(const struct complete_place *p, const char *candidate, const char *text);

/* Offers values that only a running program knows (targets, series, rules). */
typedef void complete_source(const struct complete_place *p);

/* words[0..n) follow the command's name; the last one is being typed. */
void complete_words(FILE *to, const struct command *c, int n, char **words, complete_source *source);

/* The tables' lookups, as the parser does them. */
const struct option *option_find(const struct command *c, const char *name, size_t n);
const struct option *option_find_letter(const struct command *c, char letter);
const struct option *option_operand(const struct command *c, size_t n);
