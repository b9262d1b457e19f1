/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/digits.h"

#include "proto/base/ckd.h"

bool digits_read(const char **text, uint64_t *ret)
{
        uint64_t n = 0;
        const char *p = *text;

        for (; *p >= '0' && *p <= '9'; p++)
                if (ckd_mul(&n, n, 10u) || ckd_add(&n, n, (uint64_t)(*p - '0')))
                        return false;
        if (p == *text)
                return false;
        *text = p;
        *ret = n;
        return true;
}

bool digits_parse(const char *text, uint64_t most, uint64_t *ret)
{
        return digits_read(&text, ret) && !*text && *ret <= most;
}
