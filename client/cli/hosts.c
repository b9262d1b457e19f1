/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/endpoints.h"
#include "proto/base/array.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/cli/yaml/yaml_file.h"

static bool read_server_key(struct yaml_file *f, const yaml_node_t *node, struct host *h)
{
        const char *text = yaml_text(f, node, "a public key");

        if (!text)
                return false;
        if (!key_parse(text, h->server[h->n_server]))
                return yaml_error(f, node, 0,
                                  "expected the daemon's public key, %u hexadecimal digits, as `heapwatch keys show` "
                                  "prints it there",
                                  KEY_TEXT - 1);
        h->n_server++;
        return true;
}

/* One, or a list of keys to try in turn. */
static bool read_server_keys(struct yaml_file *f, const yaml_node_t *node, struct host *h)
{
        const yaml_node_t *item = NULL;
        bool good = true;

        if (node->type != YAML_SEQUENCE_NODE)
                return read_server_key(f, node, h);
        for (size_t i = 0; (item = yaml_item_at(f, node, i)) && h->n_server < HW_SERVER_KEYS && good; i++)
                good = read_server_key(f, item, h);
        if (item && good)
                return yaml_error(f, item, 0, "more than %u keys of one daemon", HW_SERVER_KEYS);
        return good && (h->n_server > 0 || yaml_error(f, node, 0, "expected a key or several, found an empty list"));
}

static bool read_text(struct yaml_file *f, const yaml_node_t *node, const char *what, char *out)
{
        const char *text = yaml_text(f, node, what);

        if (!text)
                return false;
        if (!*text || strlen(text) >= HOST_ENDPOINT)
                return yaml_error(f, node, 0, "expected %s of 1 to %d bytes", what, HOST_ENDPOINT - 1);
        (void)snprintf(out, HOST_ENDPOINT, "%s", text);
        return true;
}

static bool read_endpoint(struct yaml_file *f, const yaml_node_t *node, struct host *h)
{
        if (!read_text(f, node, "an endpoint", h->endpoint))
                return false;
        const char *colon = strrchr(h->endpoint, ':');
        if (!strncmp(h->endpoint, "tcp://", 6) && colon > h->endpoint + 6 && colon[1] &&
            !colon[1 + strspn(colon + 1, "0123456789")])
                return true;
        return yaml_error(f, node, 0, "'%.80s'; expected tcp://HOST:PORT", h->endpoint);
}

static bool read_host(struct yaml_file *f, const struct yaml_entry *e, struct hosts *hosts)
{
        static const char *const keys[] = { "endpoint", "server_key", "key" };
        struct host *h = &hosts->list[hosts->n];

        *h = (struct host){ .name = "" };
        if (!key_name_valid(e->key))
                return yaml_error(f, e->key_node, 0, "'%.80s' cannot be a host's name: 1 to %u of A-Z a-z 0-9 . _ @ -",
                                  e->key, KEY_NAME_MAX);
        (void)snprintf(h->name, sizeof(h->name), "%s", e->key);
        if (hosts_find(hosts, h->name))
                return yaml_error(f, e->key_node, 0, "duplicate host '%s'", h->name);
        if (!yaml_is_mapping(f, e->value, "endpoint and server_key of the host") ||
            !yaml_check_keys(f, e->value, keys, ARRAY_SIZE(keys)))
                return false;
        const yaml_node_t *endpoint = yaml_get(f, e->value, "endpoint"), *server = yaml_get(f, e->value, "server_key"),
                          *key = yaml_get(f, e->value, "key");
        if (!endpoint || !server)
                return yaml_error(f, e->value, 0, "the host's %s is missing", endpoint ? "server_key" : "endpoint");
        bool good = read_endpoint(f, endpoint, h);
        good &= read_server_keys(f, server, h);
        good &= !key || read_text(f, key, "a key's name", h->key);
        hosts->n += good;
        return good;
}

static bool read_hosts(struct yaml_file *f, struct hosts *h)
{
        const yaml_node_t *root = yaml_root(f);
        struct yaml_entry e = { .key = NULL };
        bool good = true, more = false;

        if (!root)
                return true;
        if (!yaml_is_mapping(f, root, "hosts: NAME: { endpoint: tcp://HOST:PORT, server_key: KEY }"))
                return false;
        h->list = calloc(HOSTS_MAX, sizeof(*h->list));
        if (!h->list)
                return yaml_error(f, NULL, 0, "out of memory");
        for (size_t i = 0; (more = yaml_entry_at(f, root, i, &e)) && h->n < HOSTS_MAX && !yaml_enough_errors(f); i++)
                good &= read_host(f, &e, h);
        if (more && h->n == HOSTS_MAX)
                return yaml_error(f, e.key_node, 0, "more than %u hosts", HOSTS_MAX);
        return good;
}

static bool finish_file(struct hosts *h, struct yaml_file *f, bool read)
{
        bool good = read && read_hosts(f, h);

        yaml_file_done(f);
        if (!good)
                hosts_done(h);
        return good;
}

bool hosts_parse(struct hosts *h, const char *file, const char *text, const struct error_sink *says)
{
        struct yaml_file f;

        *h = (struct hosts){ .n = 0 };
        return finish_file(h, &f, yaml_file_parse(&f, file, text, says));
}

bool hosts_path(char *ret_path, size_t size)
{
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        int n = -1;

        if (config && *config == '/')
                n = snprintf(ret_path, size, "%s/heapwatch/hosts", config);
        else if (home && *home == '/')
                n = snprintf(ret_path, size, "%s/.config/heapwatch/hosts", home);
        return n > 0 && (size_t)n < size;
}

/* What is wrong with the file's owner or mode; NULL: nothing. */
static const char *find_objection(const struct stat *st)
{
        if (st->st_uid != geteuid() && st->st_uid != 0)
                return "it belongs to another user";
        return st->st_mode & 022 ? "others may change it, and it says whom to trust; chmod go-w it" : NULL;
}

bool hosts_read(struct hosts *h, const struct error_sink *says)
{
        char path[PATH_MAX], line[PATH_MAX + 200];
        struct yaml_file f;
        struct stat st;

        *h = (struct hosts){ .n = 0 };
        if (!hosts_path(path, sizeof(path)) || (stat(path, &st) != 0 && errno == ENOENT))
                return true;
        if (stat(path, &st) == 0 && find_objection(&st)) {
                (void)snprintf(line, sizeof(line), "%s: %s", path, find_objection(&st));
                says->say(says->ctx, line);
                return false;
        }
        return finish_file(h, &f, yaml_file_read(&f, path, says));
}

void hosts_done(struct hosts *h)
{
        free(h->list);
        *h = (struct hosts){ .n = 0 };
}

const struct host *hosts_find(const struct hosts *h, const char *name)
{
        for (size_t i = 0; i < h->n; i++)
                if (!strcmp(h->list[i].name, name))
                        return &h->list[i];
        return NULL;
}
