/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/nearest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static int folded(char c, bool fold)
{
        return fold ? tolower((unsigned char)c) : (unsigned char)c;
}

int name_order(const char *a, const char *b, bool fold)
{
        static const char digits[] = "0123456789";
        size_t at = 0;

        while (a[at] && folded(a[at], fold) == folded(b[at], fold))
                at++;
        size_t number = at;
        while (number > 0 && isdigit((unsigned char)a[number - 1]))
                number--;
        const size_t n = strspn(a + number, digits), m = strspn(b + number, digits);
        if (number > 0 && a[number - 1] == '~' && n > 0 && m > 0 && n != m)
                return n < m ? -1 : 1;
        return folded(a[at], fold) - folded(b[at], fold);
}
