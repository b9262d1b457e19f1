/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * curl_library.h - libcurl, loaded when the first rule wants to send something.
 *
 * With what it needs for TLS it takes 6 MB of memory in every process that is
 * linked with it; most daemons have no such rule.
 */
#ifndef HW_DAEMON_ACT_CURL_LIBRARY_H
#define HW_DAEMON_ACT_CURL_LIBRARY_H

#include <curl/curl.h>
#include <stddef.h>

/* The functions of that library which are used, each with its own type. */
struct curl_library {
        __typeof__(&curl_global_init) global_init;
        __typeof__(&curl_global_cleanup) global_cleanup;
        __typeof__(&curl_easy_init) easy_init;
        __typeof__(&curl_easy_cleanup) easy_cleanup;
        __typeof__(&curl_easy_setopt) easy_setopt;
        __typeof__(&curl_easy_getinfo) easy_getinfo;
        __typeof__(&curl_easy_strerror) easy_strerror;
        __typeof__(&curl_multi_init) multi_init;
        __typeof__(&curl_multi_cleanup) multi_cleanup;
        __typeof__(&curl_multi_setopt) multi_setopt;
        __typeof__(&curl_multi_assign) multi_assign;
        __typeof__(&curl_multi_add_handle) multi_add_handle;
        __typeof__(&curl_multi_remove_handle) multi_remove_handle;
        __typeof__(&curl_multi_info_read) multi_info_read;
        __typeof__(&curl_multi_socket_action) multi_socket_action;
        __typeof__(&curl_slist_append) slist_append;
        __typeof__(&curl_slist_free_all) slist_free_all;
};

/* Loads it, the first time; it stays loaded. NULL with a sentence in `error`. For one thread. */
const struct curl_library *curl_library_load(char *error, size_t error_size);

#endif
