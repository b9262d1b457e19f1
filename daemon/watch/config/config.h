/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.h - the daemon's configuration: command line and config file in one
 * struct, all values checked.
 *
 * The file is YAML; the command line wins over it. A mistake is
 * reported with file, line and column before anything is started.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/log.h"
#include "daemon/source/allow.h"
#include "daemon/source/uri.h"
#include "proto/base/error.h"
#include "proto/cli/version.h"

/*
 * config_trend.c: how growth is judged: resolution, how long growth must last to be a leak, a memory limit given by
 * the user.
 */

struct tracker_config;

/* 0: not given. */
struct config_trend {
        uint64_t resolution_ns;
        uint64_t leak_after_ns;
        uint64_t limit_bytes;
};

/* Whether the settings are consistent. */
bool config_trend_check(const struct config_trend *c, struct error *error);

/*
 * The tracker's configuration from consistent settings. For a finished log length_ns is that of its longest run: unless
 * given, the resolution is about a four-hundredth of it, from 100 ms to a minute. 0: live, one minute.
 */
struct tracker_config config_trend_tracker(const struct config_trend *c, uint64_t length_ns);

#define CONFIG_ENDPOINT_MAX  256
#define CONFIG_PATH_MAX      4096
#define CONFIG_DIRECTORY_MAX 1024
#define CONFIG_RULES_MAX     64

struct config_target {
        char name[TARGET_NAME_MAX + 1];
        struct source_uri uri;
        bool no_record; /* excluded from recording */
        char *labels;   /* of its runs (proto/base/labels.h); owned; NULL: none */
};

/* Keeping of ended runs. */
struct config_keep {
        uint32_t most;
        uint64_t for_ns;
};

/* The flight recorder. Empty directory: nothing is recorded. */
struct config_record {
        char directory[CONFIG_DIRECTORY_MAX];
        uint64_t total_bytes, target_bytes, for_ns;
        uint64_t free_bytes; /* left free on the disk */
        bool no_bundles;     /* the built-in rules keep none when a program leaks or crashes */
};

/* Where the daemon keeps its state across restarts, and how old that may be. Empty directory: nothing is kept. */
struct config_checkpoint {
        char directory[CONFIG_DIRECTORY_MAX];
        uint64_t every_ns;
};

/* What to do. Tasks about rules need no socket and no target. */
enum config_task { TASK_WATCH, TASK_CHECK_RULES, TASK_LIST_RULES, TASK_EXPLAIN_RULES };

struct config {
        struct config_target *targets;
        size_t n_targets;
        char publish_endpoint[CONFIG_ENDPOINT_MAX];
        char request_endpoint[CONFIG_ENDPOINT_MAX];
        char listen[CONFIG_ENDPOINT_MAX]; /* tcp, for those who have keys; "": nowhere */
        char keys[CONFIG_PATH_MAX];       /* the directory of these keys; "": not given */
        struct log_levels log_level;
        bool notify_off;     /* alerts are not acted on */
        bool show_arguments; /* publish the program's arguments, not only its RTS options */
        struct config_trend trend;
        struct config_keep keep_ended;
        uint64_t memory_bytes;        /* the daemon's own budget; 0: not given, that of its control group */
        uint64_t census_memory_bytes; /* of a process that reads an agent's censuses; UINT64_MAX: there is none */
        struct config_record record;
        struct config_checkpoint checkpoint;
        char state[CONFIG_DIRECTORY_MAX]; /* the directory of the daemon's log and life; "": it has none */
        char *rules[CONFIG_RULES_MAX];    /* rule files; owned */
        size_t n_rules;
        struct source_allow allow; /* what requests may add */
        bool print_config;         /* show the effective configuration and exit */
        uint64_t given;            /* the settings of the command line, a bit each (settings.c): the file leaves them */

        enum config_task task;
};

#define CONFIG_MEMORY_LEAST        (UINT64_C(16) << 20)
#define CONFIG_CENSUS_MEMORY       (UINT64_C(1) << 30)
#define CONFIG_CENSUS_MEMORY_LEAST (UINT64_C(64) << 20)
#define CONFIG_KEEP_ENDED          16u
#define CONFIG_KEEP_ENDED_FOR      (48 * UINT64_C(3600000000000)) /* yesterday's crash is still there tomorrow */

#define CONFIG_CHECKPOINT_EVERY (20 * UINT64_C(1000000000))
#define CONFIG_RECORD_TOTAL     (UINT64_C(4) << 30) /* bytes of all recordings */
#define CONFIG_RECORD_TARGET    (UINT64_C(1) << 30) /* of one target */
#define CONFIG_RECORD_FOR       (7 * 24 * UINT64_C(3600000000000))
#define CONFIG_RECORD_FREE      (UINT64_C(1) << 30)

enum config_result {
        CONFIG_RUN,
        CONFIG_DONE, /* --help, --version, --print-config: done */
        CONFIG_BAD   /* reported on stderr: exit 2 */
};

enum config_result config_parse(struct config *c, int argc, char **argv);
void config_done(struct config *c);

/* Adds the settings of a YAML file; values set by the command line stay. False after reporting on stderr. */
bool config_read_file(struct config *c, const char *path);

/* Adds a rule file. False with a sentence in `error`. */
bool config_add_rules(struct config *c, const char *path, struct error *error);

/* Adds one `[NAME=]URI`. False with a sentence in `error`. */
bool config_add_target(struct config *c, const char *name, const char *spec, struct error *error);

/* print.c: the effective configuration as a configuration file, on standard output. */

/* What it prints, read with --config, gives the same configuration again. */
void config_print(const struct config *c);

/* libraries.c: the libraries of the daemon, all of which the client has, too. */

enum { DAEMON_LIBRARIES = 8 };

/* Texts are static. */
void libraries_list(struct library_version ret[static DAEMON_LIBRARIES]);

/*
 * settings.c: the settings that have one value: what the command line and the file call them, and what they may be.
 *
 * A value is checked and stored in the same way wherever it comes from. The command line wins over the file.
 */

struct setting;

/* Sets what an option of the command line sets. False with what is wrong in `error`, to be shown behind its name. */
bool setting_give(struct config *c, const char *option, const char *value, struct error *error);

/* The setting of a key in a section of the file (NULL: in none); NULL: there is no such setting. */
const struct setting *setting_of_key(const char *section, const char *key);

/* The keys of a section, at most SETTINGS_OF_SECTION; returns how many there are, 0 for none that is a section. */
#define SETTINGS_OF_SECTION 8u
size_t settings_of_section(const char *section, const char *ret_keys[SETTINGS_OF_SECTION]);

/* What the file may give: for messages, and how many bytes at most. */
const char *setting_expected(const struct setting *s);
size_t setting_longest(const struct setting *s);

/* Sets what the file gives; a value of the command line stays. False as setting_give(). */
bool setting_add(struct config *c, const struct setting *s, const char *value, struct error *error);
