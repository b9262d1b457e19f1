/* SPDX-License-Identifier: BSD-3-Clause */
/* curl_library.c - by the name that its Debian and other packages have had since 2006: libcurl.so.4. */
#include "daemon/act/curl_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME "libcurl.so.4"

static struct curl_library library;

/* Where each function goes. */
static const struct {
        const char *name;
        void *to;
} functions[] = {
        { "curl_global_init", &library.global_init },
        { "curl_global_cleanup", &library.global_cleanup },
        { "curl_easy_init", &library.easy_init },
        { "curl_easy_cleanup", &library.easy_cleanup },
        { "curl_easy_setopt", &library.easy_setopt },
        { "curl_easy_getinfo", &library.easy_getinfo },
        { "curl_easy_strerror", &library.easy_strerror },
        { "curl_multi_init", &library.multi_init },
        { "curl_multi_cleanup", &library.multi_cleanup },
        { "curl_multi_setopt", &library.multi_setopt },
        { "curl_multi_assign", &library.multi_assign },
        { "curl_multi_add_handle", &library.multi_add_handle },
        { "curl_multi_remove_handle", &library.multi_remove_handle },
        { "curl_multi_info_read", &library.multi_info_read },
        { "curl_multi_socket_action", &library.multi_socket_action },
        { "curl_slist_append", &library.slist_append },
        { "curl_slist_free_all", &library.slist_free_all },
};

static bool find_all(void *handle)
{
        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
                void *function = dlsym(handle, functions[i].name);
                if (!function)
                        return false;
                memcpy(functions[i].to, &function, sizeof(function)); /* as POSIX has it */
        }
        return true;
}

const struct curl_library *curl_library_load(char *error, size_t error_size)
{
        static bool loaded;

        if (loaded)
                return &library;
        void *handle = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
        if (!handle || !find_all(handle)) {
                const char *why = dlerror();
                snprintf(error, error_size, "%s cannot be used: %s; install it (Debian: libcurl4)", NAME,
                         why ? why : "?");
                if (handle)
                        (void)dlclose(handle);
                return NULL;
        }
        loaded = true;
        return &library;
}
