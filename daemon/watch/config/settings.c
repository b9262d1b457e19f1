/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one row a setting, and one function a kind of value. What the command line gave is kept as a bit a row, so
 * that the file can be checked in full without changing it.
 */
#include "daemon/watch/config/config.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/uri.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/limits.h"

#define LONGEST_WORD 32u /* of a word or a quantity */
#define MIB          (UINT64_C(1) << 20)

enum setting_kind {
        SETTING_TEXT,
        SETTING_DIRECTORY, /* made absolute */
        SETTING_DURATION,
        SETTING_BYTES,
        SETTING_BYTES_OR_OFF, /* off: UINT64_MAX */
        SETTING_NUMBER,       /* uint32_t */
        SETTING_NOT,          /* a bool that one word sets, and another clears */
        SETTING_LEVELS,
        SETTING_RULE_FILE,
        SETTING_ALLOWED_SOURCE,
};

struct setting {
        const char *option;      /* NULL: in the file only */
        const char *section;     /* of the file; NULL: in none */
        const char *key;         /* NULL: on the command line only, or a list in the file */
        const char *expected;    /* for messages */
        const char *set, *clear; /* the words of SETTING_NOT */
        uint64_t least, most;    /* quantities; most 0: no bound */
        size_t at, size;         /* where the value goes */
        enum setting_kind kind;
};

#define TO(member) .at = offsetof(struct config, member), .size = sizeof(((struct config *)NULL)->member)
#define SIZE_TEXT  "a size of at least 1MiB, such as 500MiB or 4GiB"

static const struct setting settings[] = {
        { "publish", NULL, "publish", "an endpoint", .kind = SETTING_TEXT, TO(publish_endpoint) },
        { "request", NULL, "request", "an endpoint", .kind = SETTING_TEXT, TO(request_endpoint) },
        { "listen", NULL, "listen", "an endpoint", .kind = SETTING_TEXT, TO(listen) },
        { "keys", NULL, "keys", "a directory", .kind = SETTING_TEXT, TO(keys) },
        { "notify", NULL, "notify", "on or off", "off", "on", .kind = SETTING_NOT, TO(notify_off) },
        { "log-level", NULL, "log_level", "error, warning, info or debug", .kind = SETTING_LEVELS, TO(log_level) },
        { "memory", NULL, "memory", "bytes, such as 256MiB, 16MiB at least", .kind = SETTING_BYTES,
          .least = CONFIG_MEMORY_LEAST, TO(memory_bytes) },
        { "census-memory", NULL, "census_memory", "bytes, such as 512MiB, 64MiB at least, or off",
          .kind = SETTING_BYTES_OR_OFF, .least = CONFIG_CENSUS_MEMORY_LEAST, TO(census_memory_bytes) },
        { "resolution", "trend", "resolution", "a time from 100ms to 1h, such as 1s or 1m", .kind = SETTING_DURATION,
          .least = LIMIT_RESOLUTION_LEAST_NS, .most = LIMIT_RESOLUTION_MOST_NS, TO(trend.resolution_ns) },
        { "leak-after", "trend", "leak_after", "a time such as 3m or 3h", .kind = SETTING_DURATION, .least = 1,
          TO(trend.leak_after_ns) },
        { "limit", "trend", "limit", "an amount of memory such as 512MiB or 2GiB", .kind = SETTING_BYTES, .least = 1,
          TO(trend.limit_bytes) },
        { "keep-ended", "keep_ended", "targets", "a number of targets from 0 to 500", .kind = SETTING_NUMBER,
          .most = LIMIT_TARGETS / 2, TO(keep_ended.most) },
        { "keep-ended-for", "keep_ended", "time", "a time such as 12h or 48h", .kind = SETTING_DURATION,
          TO(keep_ended.for_ns) },
        { "record", "record", "directory", "a directory", .kind = SETTING_DIRECTORY, TO(record.directory) },
        { "record-budget", "record", "total", SIZE_TEXT, .kind = SETTING_BYTES, .least = MIB, TO(record.total_bytes) },
        { NULL, "record", "per_target", SIZE_TEXT, .kind = SETTING_BYTES, .least = MIB, TO(record.target_bytes) },
        { "record-for", "record", "time", "a time such as 12h or 7d", .kind = SETTING_DURATION, .least = 1,
          TO(record.for_ns) },
        { NULL, "record", "free", SIZE_TEXT, .kind = SETTING_BYTES, .least = MIB, TO(record.free_bytes) },
        { NULL, "record", "bundles", "true or false", "false", "true", .kind = SETTING_NOT, TO(record.no_bundles) },
        { "checkpoint", "checkpoint", "directory", "a directory", .kind = SETTING_DIRECTORY, TO(checkpoint.directory) },
        { "checkpoint-every", "checkpoint", "every", "a time from 100ms to 30s", .kind = SETTING_DURATION,
          .least = UINT64_C(100000000), .most = UINT64_C(30000000000), TO(checkpoint.every_ns) },
        { "state", .expected = "a directory", .kind = SETTING_DIRECTORY, TO(state) },
        { "rules", .kind = SETTING_RULE_FILE },
        { "allow-source", .kind = SETTING_ALLOWED_SOURCE },
};

_Static_assert(ARRAY_SIZE(settings) <= 64, "struct config has a bit for each");

static bool refuse_value(const struct setting *s, const char *value, struct error *error)
{
        return error_set(error, "'%.40s'; expected %s", value, s->expected);
}

static bool parse_quantity(const struct setting *s, const char *value, uint64_t *ret)
{
        if (s->kind == SETTING_NUMBER)
                return digits_parse(value, UINT64_MAX, ret);
        if (s->kind == SETTING_DURATION)
                return hw_parse_duration(value, ret);
        return hw_parse_bytes(value, ret);
}

/* Makes a directory as typed absolute. False with a sentence; `to` is then "". */
static bool set_directory(char *to, size_t size, const char *value, struct error *error)
{
        char here[SOURCE_PATH_MAX] = "";

        to[0] = '\0';
        if (value[0] != '/' && !getcwd(here, sizeof(here)))
                return error_set(error, "the current directory is not known; give an absolute path");
        int n = snprintf(to, size, "%s%s%s", here, here[0] ? "/" : "", value);
        if (value[0] && n > 0 && (size_t)n < size)
                return true;
        to[0] = '\0';
        return error_set(error, "expected a directory of at most %zu bytes", size - 1);
}

static bool set_quantity(const struct setting *s, void *to, const char *value, struct error *error)
{
        uint64_t quantity = UINT64_MAX;
        bool off = s->kind == SETTING_BYTES_OR_OFF && !strcmp(value, "off");

        if (!off && (!parse_quantity(s, value, &quantity) || quantity < s->least || (s->most && quantity > s->most)))
                return refuse_value(s, value, error);
        if (s->kind == SETTING_NUMBER)
                *(uint32_t *)to = (uint32_t)quantity;
        else
                *(uint64_t *)to = quantity;
        return true;
}

static bool set_value(struct config *c, const struct setting *s, const char *value, struct error *error)
{
        void *to = (char *)c + s->at;

        switch (s->kind) {
        case SETTING_TEXT:
                if (strlen(value) >= s->size)
                        return error_set(error, "expected %s of at most %zu bytes", s->expected, s->size - 1);
                (void)snprintf(to, s->size, "%s", value);
                return true;
        case SETTING_DIRECTORY:
                return set_directory(to, s->size, value, error);
        case SETTING_DURATION:
        case SETTING_BYTES:
        case SETTING_BYTES_OR_OFF:
        case SETTING_NUMBER:
                return set_quantity(s, to, value, error);
        case SETTING_NOT:
                *(bool *)to = !strcmp(value, s->set);
                return *(bool *)to || !strcmp(value, s->clear) || refuse_value(s, value, error);
        case SETTING_LEVELS:
                return log_parse_level(value, to) ||
                       error_set(error, "'%.40s'; expected %s, or by room, e.g. info,source=debug; rooms: %s", value,
                                 s->expected, log_room_names());
        case SETTING_RULE_FILE:
                return config_add_rules(c, value, error);
        case SETTING_ALLOWED_SOURCE:
                return source_allow_add(&c->allow, value, error);
        }
        return false;
}

static uint64_t bit_of(const struct setting *s)
{
        return UINT64_C(1) << (s - settings);
}

bool setting_give(struct config *c, const char *option, const char *value, struct error *error)
{
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
                if (settings[i].option && !strcmp(settings[i].option, option)) {
                        c->given |= bit_of(&settings[i]);
                        return set_value(c, &settings[i], value, error);
                }
        return error_set(error, "no setting has this name");
}

static bool is_in_section(const struct setting *s, const char *section)
{
        return s->key && (section ? s->section && !strcmp(s->section, section) : !s->section);
}

const struct setting *setting_of_key(const char *section, const char *key)
{
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
                if (is_in_section(&settings[i], section) && !strcmp(settings[i].key, key))
                        return &settings[i];
        return NULL;
}

size_t settings_of_section(const char *section, const char *ret_keys[SETTINGS_OF_SECTION])
{
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(settings) && n < SETTINGS_OF_SECTION; i++)
                if (is_in_section(&settings[i], section))
                        ret_keys[n++] = settings[i].key;
        return n;
}

const char *setting_expected(const struct setting *s)
{
        return s->expected;
}

size_t setting_longest(const struct setting *s)
{
        if (s->kind == SETTING_TEXT || s->kind == SETTING_DIRECTORY)
                return s->size - 1;
        return s->kind == SETTING_LEVELS ? LOG_LEVELS_TEXT : LONGEST_WORD;
}

bool setting_add(struct config *c, const struct setting *s, const char *value, struct error *error)
{
        struct config unused = { .n_targets = 0 };

        return set_value(c->given & bit_of(s) ? &unused : c, s, value, error);
}
