/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: options come in any order, so they are kept until all are parsed (endpoints_ready); then the library gets
 * the keys, by endpoint. A program has one command line, so they are kept in static variables.
 */
#include "client/cli/endpoints.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/error.h"
#include "proto/base/nearest.h"
#include "proto/cli/yaml/yaml_file.h"

struct named {
        const char *endpoint, *given;
        const struct host *host; /* NULL: given as an endpoint */
};

static struct hosts hosts;
static bool hosts_were_read;
static struct named named[OPTIONS_MAX];
static size_t n_named;
static const char *own_key;
static uint8_t server_keys[HW_SERVER_KEYS][HW_KEY_BYTES];
static const char *server_keys_given[HW_SERVER_KEYS];
static size_t n_server_keys;

/* ------------------------------------------------------------------- options */

int endpoints_parse_key(const struct command *c, const struct option *o, void *filled, char *value)
{
        if (!*value)
                return option_error(c, o, "expected the name of a key, or its file");
        own_key = value;
        return 0;
}

int endpoints_parse_server_key(const struct command *c, const struct option *o, void *filled, char *value)
{
        if (n_server_keys == HW_SERVER_KEYS)
                return option_error(c, o, "more than %d keys of one daemon", HW_SERVER_KEYS);
        if (!key_parse(value, server_keys[n_server_keys]))
                return option_error(
                        c, o,
                        "expected a public key, %u hexadecimal digits, as `heapwatch keys show server` prints "
                        "it at the daemon",
                        KEY_TEXT - 1);
        server_keys_given[n_server_keys++] = value;
        return 0;
}

size_t endpoints_words(const char *words[ENDPOINTS_WORDS])
{
        size_t n = 0;

        if (n_named > 0) {
                words[n++] = "--connect";
                words[n++] = named[n_named - 1].given;
        }
        if (own_key) {
                words[n++] = "--key";
                words[n++] = own_key;
        }
        for (size_t i = 0; i < n_server_keys; i++) {
                words[n++] = "--server-key";
                words[n++] = server_keys_given[i];
        }
        return n;
}

static void to_stderr(void *ctx, const char *line)
{
        (void)fprintf(stderr, "%s: %s\n", command_title(ctx), line);
}

static bool read_hosts(const struct command *c)
{
        const struct error_sink says = { .say = to_stderr, .ctx = (void *)c };

        if (!hosts_were_read && !hosts_read(&hosts, &says))
                return false;
        hosts_were_read = true;
        return true;
}

static int unknown_host(const struct command *c, const struct option *o, const char *name)
{
        struct nearest near = { .typed = name };
        char path[PATH_MAX] = "~/.config/heapwatch/hosts";

        for (size_t i = 0; i < hosts.n; i++)
                nearest_try(&near, hosts.list[i].name);
        (void)hosts_path(path, sizeof(path));
        if (near.found)
                return option_error(c, o, "there is no host '%s' in %s; did you mean '%s'?", name, path, near.found);
        return option_error(c, o,
                            "'%s' is not an endpoint (ipc://PATH, tcp://HOST:PORT), and there is no such host in %s",
                            name, path);
}

static int parse_endpoint(const struct command *c, const struct option *o, char **value)
{
        const struct host *host = NULL;
        const char *given = *value;

        if (!strstr(*value, "://")) {
                if (!read_hosts(c))
                        return EXIT_USAGE;
                host = hosts_find(&hosts, *value);
                if (!host)
                        return unknown_host(c, o, *value);
                *value = (char *)host->endpoint;
        }
        if (n_named < OPTIONS_MAX)
                named[n_named++] = (struct named){ *value, given, host };
        return 0;
}

/* ------------------------------------------------------------------ our own key */

static bool is_key_file(const char *name)
{
        const size_t n = strlen(name);

        return n > 4 && !strcmp(name + n - 4, ".key") && strcmp(name, KEYS_SERVER) != 0 && *name != '.';
}

/* The only key in the directory. False with a message: none, or several. */
static bool find_only_key(const char *directory, char path[PATH_MAX], struct error *error)
{
        char found[NAME_MAX + 1] = "";
        struct dirent *entry;
        unsigned n = 0;
        DIR *d = opendir(directory);

        while (d && (entry = readdir(d))) {
                if (!is_key_file(entry->d_name))
                        continue;
                (void)snprintf(found, sizeof(found), "%s", entry->d_name);
                n++;
        }
        if (d)
                (void)closedir(d);
        if (n == 0)
                return error_set(error, "you have no key in %s; `heapwatch keys new` makes one", directory);
        if (n > 1)
                return error_set(error, "you have %u keys in %s; say which: --key NAME, or `key:` in the hosts file", n,
                                 directory);
        return snprintf(path, PATH_MAX, "%s/%s", directory, found) < PATH_MAX ||
               error_set(error, "%s: the path is too long", directory);
}

/* A path, the name of a key in the directory, or NULL. */
static bool read_own_key(const char *which, struct key_pair *pair, struct error *error)
{
        char directory[PATH_MAX - 300], path[PATH_MAX];

        if (which && strchr(which, '/'))
                return key_pair_read(pair, which, error);
        if (!keys_directory(directory, sizeof(directory), error))
                return false;
        if (!which)
                return find_only_key(directory, path, error) && key_pair_read(pair, path, error);
        if (!key_name_valid(which))
                return error_set(error, "'%.80s' is neither a key's name nor a path", which);
        (void)snprintf(path, sizeof(path), "%s/%s.key", directory, which);
        return key_pair_read(pair, path, error);
}

/* ---------------------------------------------------------------------- ready */

/* 127.0.0.1, [::1], localhost: only there keys are not required. */
static bool is_local(const char *endpoint)
{
        return strncmp(endpoint, "tcp://", 6) != 0 || !strncmp(endpoint, "tcp://127.", 10) ||
               !strncmp(endpoint, "tcp://localhost:", 16) || !strncmp(endpoint, "tcp://[::1]:", 12);
}

static int secure_endpoint(const struct command *c, const struct named *n)
{
        const uint8_t *server = n_server_keys ? server_keys[0] : n->host ? n->host->server[0] : NULL;
        const size_t n_server = n_server_keys ? n_server_keys : n->host ? n->host->n_server : 0;
        const char *which = own_key ? own_key : n->host && n->host->key[0] ? n->host->key : NULL;
        struct key_pair pair;
        struct error error;

        if (!strncmp(n->endpoint, "ipc://", 6))
                return 0;
        if (n_server == 0 && is_local(n->endpoint) && !own_key)
                return 0;
        if (n_server == 0)
                return command_usage_error(c,
                                           "%s: without the daemon's public key it cannot be told from another; give "
                                           "--server-key, or put it into the hosts file",
                                           n->endpoint);
        if (!read_own_key(which, &pair, &error))
                return command_error(c, "%s", error.text);
        int r = hw_endpoint_keys(n->endpoint, pair.secret, server, n_server);
        key_pair_wipe(&pair);
        if (r == 0)
                return 0;
        return command_error(c, "%s: %s", n->endpoint, r == -ENOTSUP ? "this libzmq has no CURVE" : strerror(-r));
}

static int endpoints_ready(const struct command *c)
{
        for (size_t i = 0; i < n_named; i++) {
                int status = secure_endpoint(c, &named[i]);
                if (status)
                        return status;
        }
        return 0;
}

bool endpoint_is_here(const char *endpoint, struct error *error)
{
        return !strncmp(endpoint, "ipc://", strlen("ipc://")) ||
               error_set(error, "%s: expected ipc://PATH: processes of another machine are inspected there", endpoint);
}

const struct option_endpoints endpoints_by_name = { parse_endpoint, endpoints_ready };
