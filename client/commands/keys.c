/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keys.c - `heapwatch keys`: the keys of this machine, and who may connect to its daemon.
 *
 * DESIGN: a directory that nobody else may enter has NAME.key for each key of its own, `server.key` being the daemon's,
 * and `authorized.yaml`. That file may be edited by hand, so a change keeps everything else in it: an entry is added as
 * a line at the end, and removed with the lines from its "-" to the next entry's. The result is parsed before it
 * replaces the file.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/nearest.h"
#include "proto/base/private_directory.h"
#include "proto/base/whole_file.h"
#include "proto/cli/options.h"
#include "proto/cli/keys/key.h"
#include "proto/cli/yaml/yaml_file.h"

#define FILE_MAX  (1u << 20)
#define WORDS_MAX 3

struct keys {
        struct text_list given;
        const char *directory; /* NULL: the default */
        const char *role;      /* NULL: read */
        bool replace;
        char at[PATH_MAX - KEY_NAME_MAX - 8]; /* the directory */
};

static void print_line(void *ctx, const char *line)
{
        command_error(&command_keys, "%s", line);
}

static const struct error_sink to_stderr = { .say = print_line };

static int report_failure(const struct error *error)
{
        return command_error(&command_keys, "%s", error->text);
}

static void path_of(const struct keys *k, const char *name, const char *suffix, char path[PATH_MAX])
{
        (void)snprintf(path, PATH_MAX, "%s/%s%s", k->at, name, suffix);
}

/* Makes the directory and its parents if missing. False with a message. */
static bool open_directory(struct keys *k, struct error *error)
{
        char marker[PATH_MAX];

        path_of(k, ".made", "", marker);
        if (access(k->at, F_OK) != 0 && whole_file_write(marker, "", 0) == 0) /* makes all its parents */
                (void)unlink(marker);
        int fd = private_directory_open(k->at, true, error);
        if (fd < 0)
                return false;
        (void)close(fd);
        return true;
}

/* ----------------------------------------------------------------- own keys */

static const char *default_name(void)
{
        const char *user = getenv("LOGNAME") ? getenv("LOGNAME") : getenv("USER");

        return user && key_name_valid(user) ? user : "me";
}

static int make_new(struct keys *k)
{
        const char *name = k->given.n > 1 ? k->given.items[1] : default_name();
        char path[PATH_MAX], text[KEY_TEXT];
        struct key_pair pair;
        struct error error;

        if (!key_pair_new(&pair, name, &error))
                return report_failure(&error);
        path_of(k, name, ".key", path);
        if (access(path, F_OK) == 0 && !k->replace) {
                key_pair_wipe(&pair);
                error_set(&error,
                          "%s already exists; --replace makes a new key in its place, which has to be authorised or "
                          "recorded anew wherever the old one was",
                          path);
                return report_failure(&error);
        }
        bool good = open_directory(k, &error) && key_pair_write(&pair, path, &error);
        key_print(pair.public, text);
        key_pair_wipe(&pair);
        if (!good)
                return report_failure(&error);
        (void)printf("%s %s\n", name, text);
        (void)fprintf(stderr, "heapwatch keys: made %s; its public key is above: %s\n", path,
                      !strcmp(name, "server") ? "clients put it into their hosts file as server_key"
                                              : "`heapwatch keys authorize` takes it at the daemon");
        return EXIT_OK;
}

static int show_key(struct keys *k)
{
        const char *name = k->given.n > 1 ? k->given.items[1] : NULL;
        char path[PATH_MAX], text[KEY_TEXT];
        struct key_pair pair;
        struct error error;
        int status = EXIT_OK;
        unsigned n = 0;
        struct dirent *entry;

        if (name) {
                if (!key_name_valid(name))
                        return command_usage_error(&command_keys, "'%.80s' is not a key name", name);
                path_of(k, name, ".key", path);
                if (!key_pair_read(&pair, path, &error))
                        return report_failure(&error);
                key_print(pair.public, text);
                (void)printf("%s %s\n", name, text);
                key_pair_wipe(&pair);
                return EXIT_OK;
        }
        DIR *d = opendir(k->at);
        while (d && (entry = readdir(d))) {
                const size_t length = strlen(entry->d_name);
                if (length < 5 || strcmp(entry->d_name + length - 4, ".key") != 0)
                        continue;
                n++;
                path_of(k, entry->d_name, "", path);
                if (!key_pair_read(&pair, path, &error)) {
                        status = report_failure(&error);
                        continue;
                }
                key_print(pair.public, text);
                (void)printf("%.*s %s\n", (int)length - 4, entry->d_name, text);
                key_pair_wipe(&pair);
        }
        if (d)
                (void)closedir(d);
        if (n > 0)
                return status;
        error_set(&error, "there is no key in %s; `heapwatch keys new` makes one", k->at);
        return report_failure(&error);
}

/* ------------------------------------------------------------------ authorized */

/* The file's text, "" when there is none. NULL after a report. */
static char *read_text(const char *path)
{
        char *text = NULL;
        size_t size;
        int r = whole_file_read(path, FILE_MAX, &text, &size);

        if (r == -ENOENT)
                return strdup("");
        if (r < 0)
                command_error(&command_keys, "%s: %s", path, r == -EPERM ? "is not a file of yours" : strerror(-r));
        return r < 0 ? NULL : text;
}

/* Replaces the file by a text, if that parses. */
static int write_text(const char *path, const char *text)
{
        struct authorized now;

        if (!authorized_parse(&now, path, text, &to_stderr))
                return EXIT_USAGE;
        authorized_done(&now);
        int r = whole_file_write(path, text, strlen(text));
        if (r < 0)
                command_error(&command_keys, "%s: %s", path, strerror(-r));
        return r < 0 ? EXIT_USAGE : EXIT_OK;
}

/* Where line n of a text begins, from 0. */
static const char *line_at(const char *text, size_t n)
{
        for (; n > 0 && text; n--) {
                text = strchr(text, '\n');
                text = text ? text + 1 : NULL;
        }
        return text;
}

/* `text` without the entry, which ends where the next one begins, or at the end of the text. To free(). */
static char *text_without_key(const char *text, const struct authorized *a, const struct authorized_key *key)
{
        const char *from = line_at(text, key->line);
        const char *to = key + 1 < a->keys + a->n ? line_at(text, key[1].line) : NULL;
        char *out = NULL;

        if (!from || asprintf(&out, "%.*s%s", (int)(from - text), text, to ? to : "") < 0)
                return NULL;
        return out;
}

/* What is left of the file of a daemon that lets nobody in. */
#define NO_KEYS "# keys that may connect: `heapwatch keys authorize` adds one\n"

static void print_reload(void)
{
        (void)fprintf(stderr, "heapwatch keys: `heapwatch ctl reload` or SIGHUP makes a running daemon read it\n");
}

static int authorize_key(struct keys *k)
{
        const char *name = k->given.n > 1 ? k->given.items[1] : NULL,
                   *public = k->given.n > 2 ? k->given.items[2] : NULL;
        const char *role = k->role ? k->role : role_names[ROLE_READ];
        uint8_t key[KEY_BYTES];
        char path[PATH_MAX], *text, *kept = NULL, *whole = NULL;
        struct authorized a;
        struct error error;
        int status = EXIT_USAGE;

        if (!public || !key_name_valid(name) || !key_parse(public, key))
                return command_usage_error(
                        &command_keys,
                        "expected: heapwatch keys authorize NAME KEY, as `heapwatch keys show` prints "
                        "them where the key is");
        if (!open_directory(k, &error))
                return report_failure(&error);
        path_of(k, KEYS_AUTHORIZED, "", path);
        text = read_text(path);
        if (!text || !authorized_parse(&a, path, text, &to_stderr)) {
                free(text);
                return EXIT_USAGE;
        }
        const struct authorized_key *before = authorized_by_name(&a, name);
        kept = before ? text_without_key(text, &a, before) : strdup(text);
        const size_t n = kept ? strlen(kept) : 0;
        if (before && memcmp(before->public, key, KEY_BYTES) != 0 && !k->replace)
                command_error(&command_keys, "'%s' has another key already; --replace puts this one in its place",
                              name);
        else if (kept && asprintf(&whole, "%s%s- { name: %s, role: %s, public: \"%s\" }\n", kept,
                                  n && kept[n - 1] != '\n' ? "\n" : "", name, role, public) >= 0)
                status = write_text(path, whole);
        if (status == EXIT_OK) {
                (void)printf("%s may %s\n", name, role);
                print_reload();
        }
        free(whole);
        free(kept);
        free(text);
        authorized_done(&a);
        return status;
}

static int unknown_name(const struct authorized *a, const char *path, const char *name)
{
        struct nearest near = { .typed = name };

        for (size_t i = 0; i < a->n; i++)
                nearest_try(&near, a->keys[i].name);
        return command_error(&command_keys, "%s has no key of '%s'%s%s%s", path, name,
                             near.found ? "; did you mean '" : "", near.found ? near.found : "",
                             near.found ? "'?" : "");
}

static int revoke_key(struct keys *k)
{
        const char *name = k->given.n > 1 ? k->given.items[1] : "";
        char path[PATH_MAX], *text, *kept;
        struct authorized a;
        int status;

        path_of(k, KEYS_AUTHORIZED, "", path);
        text = read_text(path);
        if (!text || !authorized_parse(&a, path, text, &to_stderr)) {
                free(text);
                return EXIT_USAGE;
        }
        const struct authorized_key *key = authorized_by_name(&a, name);
        kept = key ? text_without_key(text, &a, key) : NULL;
        if (kept && !kept[0]) { /* an empty file is refused by the daemon */
                free(kept);
                kept = strdup(NO_KEYS);
        }
        status = kept ? write_text(path, kept) : unknown_name(&a, path, name);
        if (status == EXIT_OK) {
                (void)printf("%s may no longer connect\n", name);
                print_reload();
        }
        free(kept);
        free(text);
        authorized_done(&a);
        return status;
}

static int list_keys(struct keys *k)
{
        char path[PATH_MAX], text[KEY_TEXT];
        struct authorized a;

        path_of(k, KEYS_AUTHORIZED, "", path);
        if (!authorized_read(&a, path, &to_stderr))
                return EXIT_USAGE;
        for (size_t i = 0; i < a.n; i++) {
                key_print(a.keys[i].public, text);
                (void)printf("%-24s  %-7s  %s\n", a.keys[i].name, role_name(a.keys[i].role), text);
        }
        authorized_done(&a);
        return EXIT_OK;
}

/* --------------------------------------------------------------------- command */

static const struct verb {
        const char *name;
        size_t least, most; /* words after it */
        int (*run)(struct keys *k);
} verbs[] = {
        { "new", 0, 1, make_new },      { "show", 0, 1, show_key },  { "authorize", 2, 2, authorize_key },
        { "revoke", 1, 1, revoke_key }, { "list", 0, 0, list_keys },
};

enum { VERBS = ARRAY_SIZE(verbs) };

static const struct term terms[] = {
        { "new", "[NAME]",
          "makes a key of this host or person (default: your login name) and prints its public half; `new server` that "
          "of a daemon" },
        { "show", "[NAME]", "the public halves, a line each: NAME KEY" },
        { "authorize", "NAME KEY", "lets a key connect to the daemon that uses this directory; with --role" },
        { "revoke", "NAME", "no longer lets it connect; a reload ends its connections" },
        { "list", NULL, "who may connect: NAME ROLE KEY" },
        { NULL, NULL, NULL },
};

static int run_keys(void *filled)
{
        struct keys *k = filled;
        struct error error;

        if (k->given.n == 0)
                return command_unknown_verb(&command_keys, NULL);
        if (k->directory && strlen(k->directory) >= sizeof(k->at))
                return command_usage_error(&command_keys, "the directory's path is too long");
        if (k->directory)
                (void)snprintf(k->at, sizeof(k->at), "%s", k->directory);
        else if (!keys_directory(k->at, sizeof(k->at), &error))
                return report_failure(&error);
        for (size_t i = 0; i < VERBS; i++) {
                if (strcmp(verbs[i].name, k->given.items[0]) != 0)
                        continue;
                const size_t n = k->given.n - 1;
                if (n < verbs[i].least || n > verbs[i].most)
                        return command_verb_usage(&command_keys, verbs[i].name);
                return verbs[i].run(k);
        }
        return command_unknown_verb(&command_keys, k->given.items[0]);
}

static const char *nth_role(size_t n)
{
        return n <= ROLE_CONTROL ? role_names[n] : NULL;
}

static const struct option options[] = {
        OPERAND(OPTION_IS_LIST, "VERB", struct text_list, 0, WORDS_MAX, struct keys, given, COMPLETE_VERB, NULL),
        OPTION_TEXT("dir", 'd', "DIR", struct keys, directory, COMPLETE_FILE,
                    "the directory of keys, which only you can enter; default: ~/.config/heapwatch/keys"),
        OPTION_NAME(
                "role", 0, "read|silence|control", struct keys, role, nth_role,
                "of authorize: read (default) follows and asks; silence also silences alerts; control also adds and "
                "removes targets, reloads, and may act on alerts"),
        OPTION_FLAG("replace", 0, struct keys, replace, "a new key in place of the one of that name"),
        OPTIONS_END,
};

const struct command command_keys = {
        .name = "keys",
        .summary = "keys for daemons of other machines: make, show, authorize, revoke",
        .usage = TEXTS("new|show|authorize|revoke|list [NAME [KEY]] [OPTION]..."),
        .about = "A daemon that listens beyond its machine (heapwatchd --listen) lets in whose key is authorised "
                 "there, and proves itself by its own. A secret key never leaves the machine that it was made on; "
                 "what is sent around, by mail or chat, are the public halves that `show` prints.",
        .sections = (const struct help_section[]){ { "Verbs", terms }, { NULL, NULL } },
        .options = options,
        .notes = "--connect takes names of daemons from ~/.config/heapwatch/hosts, YAML:\n\n"
                 "prod-1: { endpoint: 'tcp://prod-1:7700', server_key: KEY }\n\n"
                 "`server_key` may be a list, [OLD, NEW]: they are tried in turn, so that a daemon's key can be "
                 "changed. `key: "
                 "NAME` says which of your own keys is meant, where you have several.",
        .status = "0 done, 2 it could not be done.",
        .examples = TEXTS("heapwatch keys new server --dir /etc/heapwatch/keys", "heapwatch keys new alice",
                          "heapwatch keys authorize alice 3f0a... --role silence", "heapwatch top --connect prod-1"),
        .verbs = terms,
        .size = sizeof(struct keys),
        .run = run_keys,
};
