/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/cli/keys/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/cli/yaml/yaml_file.h"

static bool read_name(struct yaml_file *f, const yaml_node_t *node, struct authorized_key *key)
{
        const char *text = node ? yaml_text(f, node, "a name") : NULL;

        if (!text)
                return false;
        if (!key_name_valid(text))
                return yaml_error(f, node, 0, "'%.80s' cannot be a key's name: 1 to %u of A-Z a-z 0-9 . _ @ -", text,
                                  KEY_NAME_MAX);
        (void)snprintf(key->name, sizeof(key->name), "%s", text);
        return true;
}

static bool read_role(struct yaml_file *f, const yaml_node_t *node, struct authorized_key *key)
{
        const char *text = node ? yaml_text(f, node, "a role") : NULL;

        if (!text)
                return false;
        return role_parse(text, &key->role) ||
               yaml_error(f, node, 0, "unknown role '%.40s'; expected read, silence or control", text);
}

static bool read_public(struct yaml_file *f, const yaml_node_t *node, struct authorized_key *key)
{
        const char *text = node ? yaml_text(f, node, "a public key") : NULL;

        if (!text)
                return false;
        return key_parse(text, key->public) ||
               yaml_error(f, node, 0,
                          "expected a public key, %u hexadecimal digits, as `heapwatch keys show` prints it",
                          KEY_TEXT - 1);
}

static bool read_entry(struct yaml_file *f, const yaml_node_t *node, struct authorized *a)
{
        static const char *const keys[] = { "name", "role", "public" };
        struct authorized_key *key = &a->keys[a->n];

        if (!yaml_is_mapping(f, node, "{ name: NAME, role: ROLE, public: KEY }") || !yaml_check_keys(f, node, keys, 3))
                return false;
        for (size_t i = 0; i < 3; i++)
                if (!yaml_get(f, node, keys[i]))
                        return yaml_error(f, node, 0, "the key's %s is missing", keys[i]);
        *key = (struct authorized_key){ .line = node->start_mark.line };
        const yaml_node_t *name = yaml_get(f, node, "name"), *public = yaml_get(f, node, "public");
        bool good = read_name(f, name, key);
        good &= read_role(f, yaml_get(f, node, "role"), key);
        good &= read_public(f, public, key);
        if (!good)
                return false;
        if (authorized_by_name(a, key->name))
                return yaml_error(f, name, 0, "'%s' already has a key", key->name);
        const struct authorized_key *same = authorized_by_key(a, key->public);
        if (same)
                return yaml_error(f, public, 0, "this is already the key of '%s'", same->name);
        a->n++;
        return true;
}

static bool read_entries(struct yaml_file *f, struct authorized *a)
{
        const yaml_node_t *root = yaml_root(f), *node = NULL;
        bool good = true;

        if (!root)
                return true;
        if (!yaml_is_sequence(f, root, "a list of keys: - { name: NAME, role: ROLE, public: KEY }"))
                return false;
        a->keys = calloc(AUTHORIZED_MAX, sizeof(*a->keys));
        if (!a->keys)
                return yaml_error(f, NULL, 0, "out of memory");
        for (size_t i = 0; (node = yaml_item_at(f, root, i)) && a->n < AUTHORIZED_MAX && !yaml_enough_errors(f); i++)
                good &= read_entry(f, node, a);
        if (node && a->n == AUTHORIZED_MAX)
                return yaml_error(f, node, 0, "more than %u keys", AUTHORIZED_MAX);
        return good;
}

/* After reading the file, successfully or not: takes its keys. */
static bool finish(struct authorized *a, struct yaml_file *f, bool read)
{
        bool good = read && read_entries(f, a);

        yaml_file_done(f);
        if (!good)
                authorized_done(a);
        return good;
}

bool authorized_parse(struct authorized *a, const char *file, const char *text, const struct error_sink *says)
{
        struct yaml_file f;

        *a = (struct authorized){ .n = 0 };
        return finish(a, &f, yaml_file_parse(&f, file, text, says));
}

bool authorized_read(struct authorized *a, const char *path, const struct error_sink *says)
{
        struct yaml_file f;

        *a = (struct authorized){ .n = 0 };
        if (access(path, F_OK) != 0 && errno == ENOENT)
                return true;
        return finish(a, &f, yaml_file_read(&f, path, says));
}

void authorized_done(struct authorized *a)
{
        free(a->keys);
        *a = (struct authorized){ .n = 0 };
}

const struct authorized_key *authorized_by_key(const struct authorized *a, const uint8_t public[KEY_BYTES])
{
        for (size_t i = 0; i < a->n; i++)
                if (!memcmp(a->keys[i].public, public, KEY_BYTES))
                        return &a->keys[i];
        return NULL;
}

const struct authorized_key *authorized_by_name(const struct authorized *a, const char *name)
{
        for (size_t i = 0; i < a->n; i++)
                if (!strcmp(a->keys[i].name, name))
                        return &a->keys[i];
        return NULL;
}
