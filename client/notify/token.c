/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/notify/token.h"

#include <stdio.h>

#include "client/cli/secret.h"

#define SECRET_ERROR 512

static bool good_token(const char *token)
{
        if (!*token)
                return false;
        for (; *token; token++)
                if ((unsigned char)*token <= 0x20 || (unsigned char)*token >= 0x7f)
                        return false;
        return true;
}

bool token_read(const char *path, char *token, size_t size, char *error, size_t error_size)
{
        char why[SECRET_ERROR];

        if (!secret_read(path, token, size, why, sizeof(why))) {
                snprintf(error, error_size, "bearer_file %s", why);
                return false;
        }
        if (good_token(token))
                return true;
        snprintf(error, error_size, "bearer_file %s: expected one line with a token", path);
        return false;
}
