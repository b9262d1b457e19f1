/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan_file.c - the configuration file of `heapwatch export`.
 *
 * DESIGN: the tree of yaml_file is walked once, with two tables of keys. All mistakes are reported at once, each with
 * line and column. Settings from the command line take precedence; sinks of both are used.
 */
#include "client/out/export/plan.h"

#include <stdio.h>
#include <string.h>

#include "client/out/metrics/collect.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"
#include "proto/cli/yaml/yaml_file.h"

#define TEXT_MOST   4096u
#define SERIES_MOST 100000u

static void to_stderr(void *ctx, const char *line)
{
        (void)fprintf(stderr, "heapwatch export: %s\n", line);
}

/* A text of 1 to TEXT_MOST bytes. NULL after reporting an error. */
static const char *some_text(struct yaml_file *f, const yaml_node_t *node, const char *what)
{
        const char *text = yaml_text(f, node, what);

        if (text && (!*text || strlen(text) > TEXT_MOST)) {
                (void)yaml_error(f, node, 0, "expected %s of 1 to %u bytes", what, TEXT_MOST);
                return NULL;
        }
        return text;
}

static bool read_text(struct yaml_file *f, const yaml_node_t *node, const char *what, char **to)
{
        const char *text = some_text(f, node, what);

        if (text && !*to)
                *to = strdup(text);
        return text && (*to || yaml_error(f, node, 0, "out of memory"));
}

static bool read_duration(struct yaml_file *f, const yaml_node_t *node, uint64_t least, uint64_t most, uint64_t *to)
{
        const char *text = some_text(f, node, "a duration such as 15s");
        uint64_t ns;

        if (!text)
                return false;
        if (!hw_parse_duration(text, &ns) || ns < least || ns > most)
                return yaml_error(f, node, 0, "'%s': expected a duration from %us to %us, such as 15s", text,
                                  (unsigned)(least / NS_PER_S), (unsigned)(most / NS_PER_S));
        if (!*to)
                *to = ns;
        return true;
}

static bool read_number(struct yaml_file *f, const yaml_node_t *node, uint64_t most, uint64_t *to)
{
        const char *text = some_text(f, node, "a number");
        uint64_t n;

        if (!text)
                return false;
        if (!digits_parse(text, most, &n) || n == 0)
                return yaml_error(f, node, 0, "'%s': expected a number from 1 to %u", text, (unsigned)most);
        if (!*to)
                *to = n;
        return true;
}

static bool read_bytes(struct yaml_file *f, const yaml_node_t *node, uint64_t *to)
{
        const char *text = some_text(f, node, "a size such as 16MiB");
        uint64_t bytes;

        if (!text)
                return false;
        if (!hw_parse_bytes(text, &bytes) || bytes < 65536 || bytes > QUEUE_BYTES_MOST)
                return yaml_error(f, node, 0, "'%s': expected a size from 64KiB to 1GiB, such as 16MiB", text);
        *to = bytes;
        return true;
}

/* One of some words, as its place among them; node NULL: it is missing in the parent. */
static bool choose_word(struct yaml_file *f, const yaml_node_t *parent, const yaml_node_t *node, const char *what,
                        const char *const *words, size_t n, size_t *ret)
{
        const char *text = some_text(f, node, what);
        char expected[256];
        struct text_out out;

        for (*ret = 0; text && *ret < n; ++*ret)
                if (!strcmp(text, words[*ret]))
                        return true;
        text_out_init(&out, expected, sizeof(expected));
        text_put_alternatives(&out, words, n);
        if (!text)
                return !node && yaml_error(f, parent, 0, "%s is missing: %s", what, expected);
        return yaml_error(f, node, 0, "'%s': expected %s", text, expected);
}

/* ------------------------------------------------------------------- a sink */

static const char *const sink_keys[] = {
        "kind",       "name",     "listen",      "path",       "url",     "format",
        "token_file", "no_token", "bearer_file", "basic_file", "ca_file", "interval",
        "bands",      "series",   "queue_bytes", "queue_time", "timeout", "native_histograms"
};

static bool read_format(struct yaml_file *f, const yaml_node_t *node, struct sink_plan *s)
{
        const struct sink_kind_row *kind = &sink_kinds[s->kind];
        size_t n = 0;

        while (kind->formats[n])
                n++;
        if (!n)
                return yaml_error(f, node, 0, "format: kind %s has one only, leave it out", kind->name);
        if (!choose_word(f, NULL, node, "a format", kind->formats, n, &s->format))
                return false;
        s->format++;
        return true;
}

static bool read_native(struct yaml_file *f, const yaml_node_t *node, struct sink_plan *s)
{
        bool yes = false;

        if (!sink_kinds[s->kind].native)
                return yaml_error(f, node, 0, "native_histograms: kind %s cannot have them", sink_kinds[s->kind].name);
        if (!yaml_boolean(f, node, &yes))
                return false;
        s->native = yes ? NATIVE_YES : NATIVE_NO;
        return true;
}

/* The key of an address depends on the kind of sink. */
static bool read_address(struct yaml_file *f, const yaml_node_t *node, struct sink_plan *s, const char *key)
{
        const char *expected = sink_kinds[s->kind].key;

        if (strcmp(key, expected) != 0)
                return yaml_error(f, node, 0, "%s: of kind %s; expected %s", key, sink_kinds[s->kind].name, expected);
        return read_text(f, node, expected, &s->address);
}

static bool read_name(struct yaml_file *f, const yaml_node_t *node, struct sink_plan *s)
{
        if (!read_text(f, node, "a name", &s->name))
                return false;
        if (strlen(s->name) > 48 ||
            strspn(s->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(s->name))
                return yaml_error(f, node, 0, "'%s': expected a name of at most 48 letters, digits, - and _", s->name);
        return true;
}

static bool read_sink_entry(struct yaml_file *f, const struct yaml_entry *e, struct sink_plan *s)
{
        const char *key = e->key;
        const yaml_node_t *value = e->value;

        if (!strcmp(key, "kind"))
                return true;
        if (!strcmp(key, "name"))
                return read_name(f, value, s);
        if (!strcmp(key, "listen") || !strcmp(key, "path") || !strcmp(key, "url"))
                return read_address(f, value, s, key);
        if (!strcmp(key, "format"))
                return read_format(f, value, s);
        if (!strcmp(key, "native_histograms"))
                return read_native(f, value, s);
        if (!strcmp(key, "token_file"))
                return read_text(f, value, "a path", &s->token_file);
        if (!strcmp(key, "no_token"))
                return yaml_boolean(f, value, &s->no_token);
        if (!strcmp(key, "bearer_file"))
                return read_text(f, value, "a path", &s->bearer_file);
        if (!strcmp(key, "basic_file"))
                return read_text(f, value, "a path", &s->basic_file);
        if (!strcmp(key, "ca_file"))
                return read_text(f, value, "a path", &s->ca_file);
        if (!strcmp(key, "interval"))
                return read_duration(f, value, NS_PER_S, UINT64_C(3600) * NS_PER_S, &s->interval_ns);
        if (!strcmp(key, "bands"))
                return read_number(f, value, BANDS_MOST, &s->bands);
        if (!strcmp(key, "series"))
                return read_number(f, value, SERIES_MOST, &s->series);
        if (!strcmp(key, "queue_bytes"))
                return read_bytes(f, value, &s->queue_bytes);
        if (!strcmp(key, "queue_time"))
                return read_duration(f, value, UINT64_C(10) * NS_PER_S, UINT64_C(7 * 86400) * NS_PER_S, &s->queue_ns);
        return read_duration(f, value, NS_PER_S, UINT64_C(300) * NS_PER_S, &s->timeout_ns);
}

static bool read_kind(struct yaml_file *f, const yaml_node_t *node, enum sink_kind *ret)
{
        const char *names[SINK_KINDS];
        size_t chosen;

        for (size_t i = 0; i < SINK_KINDS; i++)
                names[i] = sink_kinds[i].name;
        if (!choose_word(f, node, yaml_get(f, node, "kind"), "the kind of sink", names, SINK_KINDS, &chosen))
                return false;
        *ret = (enum sink_kind)chosen;
        return true;
}

static bool read_sink(struct yaml_file *f, const yaml_node_t *node, struct plan *p)
{
        enum sink_kind kind;
        struct yaml_entry e;

        if (!yaml_is_mapping(f, node, "a sink: kind, and what it needs") ||
            !yaml_check_keys(f, node, sink_keys, ARRAY_SIZE(sink_keys)))
                return false;
        if (!read_kind(f, node, &kind))
                return false;
        struct sink_plan *s = plan_add(p, kind);
        if (!s)
                return yaml_error(f, node, 0, "more than %d sinks", EXPORT_SINKS_MAX);
        bool good = true;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++)
                good &= read_sink_entry(f, &e, s);
        return good;
}

/* ----------------------------------------------------------------- the file */

static const char *const keys[] = { "daemons", "interval", "labels", "bands", "series", "journal", "sinks" };

static bool read_sinks(struct yaml_file *f, const yaml_node_t *node, struct plan *p)
{
        const yaml_node_t *item;
        bool good = yaml_is_sequence(f, node, "a list of sinks");

        for (size_t i = 0; good && (item = yaml_item_at(f, node, i)) && !yaml_enough_errors(f); i++)
                (void)read_sink(f, item, p);
        return good;
}

static bool read_daemons(struct yaml_file *f, const yaml_node_t *node, struct plan *p)
{
        const yaml_node_t *item;
        bool given = p->n_daemons > 0;

        if (!yaml_is_sequence(f, node, "a list of endpoints"))
                return false;
        for (size_t i = 0; (item = yaml_item_at(f, node, i)); i++) {
                if (p->n_daemons == OPTIONS_MAX)
                        return yaml_error(f, item, 0, "more than %d daemons", OPTIONS_MAX);
                if (!given && read_text(f, item, "an endpoint", &p->daemons[p->n_daemons]))
                        p->n_daemons++;
        }
        return true;
}

static bool read_labels(struct yaml_file *f, const yaml_node_t *node, struct plan *p)
{
        struct yaml_entry e;

        if (!yaml_is_mapping(f, node, "labels: a name and a value each"))
                return false;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++) {
                const char *value = some_text(f, e.value, "a value");
                struct error error;

                if (value && !plan_label(p, e.key, value, &error))
                        (void)yaml_error(f, e.key_node, 0, "%s", error.text);
        }
        return true;
}

static bool read_journal(struct yaml_file *f, const yaml_node_t *node, struct plan *p)
{
        const char *text = some_text(f, node, "a directory, or off");

        if (!text)
                return false;
        if (!strcmp(text, "off"))
                p->no_journal = true;
        else if (*text != '/')
                return yaml_error(f, node, 0, "'%s': expected an absolute path, or off", text);
        else if (!p->journal)
                p->journal = strdup(text);
        return true;
}

static void read_entry(struct yaml_file *f, const struct yaml_entry *e, struct plan *p)
{
        if (!strcmp(e->key, "daemons"))
                (void)read_daemons(f, e->value, p);
        else if (!strcmp(e->key, "interval"))
                (void)read_duration(f, e->value, NS_PER_S, UINT64_C(3600) * NS_PER_S, &p->interval_ns);
        else if (!strcmp(e->key, "labels"))
                (void)read_labels(f, e->value, p);
        else if (!strcmp(e->key, "bands"))
                (void)read_number(f, e->value, BANDS_MOST, &p->bands);
        else if (!strcmp(e->key, "series"))
                (void)read_number(f, e->value, SERIES_MOST, &p->series);
        else if (!strcmp(e->key, "journal"))
                (void)read_journal(f, e->value, p);
        else if (!strcmp(e->key, "sinks"))
                (void)read_sinks(f, e->value, p);
}

bool plan_read(struct plan *p, const char *path)
{
        struct error_sink says = { .say = to_stderr };
        struct yaml_entry e;
        struct yaml_file f;
        bool read = yaml_file_read(&f, path, &says);
        const yaml_node_t *root = read ? yaml_root(&f) : NULL;

        if (read && !root)
                (void)yaml_error(&f, NULL, 0, "it is empty; expected sinks:");
        else if (root && yaml_is_mapping(&f, root, "sinks, and what all have in common") &&
                 yaml_check_keys(&f, root, keys, ARRAY_SIZE(keys)))
                for (size_t i = 0; yaml_entry_at(&f, root, i, &e) && !yaml_enough_errors(&f); i++)
                        read_entry(&f, &e, p);
        bool good = read && f.diagnostics == 0;
        yaml_file_done(&f);
        return good;
}
