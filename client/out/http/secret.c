/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/http/http.h"

#include <string.h>

#include "proto/base/private_directory.h"

bool secret_read(const char *path, char *secret, size_t size, struct error *error)
{
        if (!private_file_read(path, secret, size, error))
                return false;
        secret[strcspn(secret, "\r\n")] = '\0';
        return true;
}
