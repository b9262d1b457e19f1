/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nearest.c - edit distance where a swap of neighbours is one edit ("optimal
 * string alignment"): `tpo` is one edit away from `top`. Words longer than WORD
 * are not compared.
 */
#include "proto/base/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { WORD = 32, SHORT = 5 }; /* of a word shorter than that one edit is as much as can be meant */

static size_t least(size_t a, size_t b)
{
        return a < b ? a : b;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
        size_t d[WORD + 1][WORD + 1];

        for (size_t i = 0; i <= n; i++)
                d[i][0] = i;
        for (size_t j = 0; j <= m; j++)
                d[0][j] = j;
        for (size_t i = 1; i <= n; i++) {
                for (size_t j = 1; j <= m; j++) {
                        size_t other = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

                        d[i][j] = least(least(d[i - 1][j] + 1, d[i][j - 1] + 1), other);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
                }
        }
        return d[n][m];
}

void nearest_try(struct nearest *n, const char *word)
{
        const size_t length = strlen(n->typed), m = strlen(word);
        const size_t d = length > WORD || m > WORD ? SIZE_MAX : distance(n->typed, length, word, m);

        if (d < (n->found ? n->best : length < SHORT ? 2 : length / 2 + 1)) {
                n->best = d;
                n->found = word;
        }
}

const char *nearest(const char *typed, const char *const *words, size_t n)
{
        struct nearest near = { .typed = typed };

        for (size_t i = 0; i < n; i++)
                nearest_try(&near, words[i]);
        return near.found;
}

/* ---------------------------------------------------------------- in order */

static int fold_case(char c, bool fold)
{
        return fold ? tolower((unsigned char)c) : (unsigned char)c;
}

int name_order(const char *a, const char *b, bool fold)
{
        static const char digits[] = "0123456789";
        size_t at = 0;

        while (a[at] && fold_case(a[at], fold) == fold_case(b[at], fold))
                at++;
        size_t number = at;
        while (number > 0 && isdigit((unsigned char)a[number - 1]))
                number--;
        const size_t n = strspn(a + number, digits), m = strspn(b + number, digits);
        if (number > 0 && a[number - 1] == '~' && n > 0 && m > 0 && n != m)
                return n < m ? -1 : 1;
        return fold_case(a[at], fold) - fold_case(b[at], fold);
}
