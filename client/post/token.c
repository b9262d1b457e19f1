/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/post/token.h"

#include <stdio.h>
#include <string.h>

#include "client/cli/secret.h"
#include "proto/base/error.h"

static bool good_token(const char *token)
{
        if (!*token)
                return false;
        for (; *token; token++)
                if ((unsigned char)*token <= 0x20 || (unsigned char)*token >= 0x7f)
                        return false;
        return true;
}

bool token_read(const char *path, char *token, size_t size, struct error *error)
{
        struct error why;

        if (!secret_read(path, token, size, &why))
                return error_set(error, "bearer_file %s", why.text);
        if (good_token(token))
                return true;
        return error_set(error, "bearer_file %s: expected one line with a token", path);
}

static bool good_user(const char *user)
{
        if (*user == ':' || !strchr(user, ':'))
                return false;
        for (; *user; user++)
                if ((unsigned char)*user < 0x20 || (unsigned char)*user == 0x7f)
                        return false;
        return true;
}

bool user_read(const char *path, char *user, size_t size, struct error *error)
{
        struct error why;

        if (!secret_read(path, user, size, &why))
                return error_set(error, "basic_file %s", why.text);
        if (good_user(user))
                return true;
        return error_set(error, "basic_file %s: expected one line user:password", path);
}
