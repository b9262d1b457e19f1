/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rule_test.h - tests of rules: synthetic series or logs, and the alerts expected at given times. docs/RULES.md has the
 * format.
 */
#ifndef HW_DAEMON_RULES_TEST_RULE_TEST_H
#define HW_DAEMON_RULES_TEST_RULE_TEST_H

#include <limits.h>

#include "daemon/rules/rule.h"
#include "daemon/rules/state.h"
#include "daemon/trend/tracker.h"
#include "proto/yaml/yaml_file.h"
#include "proto/base/error.h"

#define TEST_SERIES_MAX 16
#define TEST_LOGS_MAX   16
#define TEST_VALUES_MAX 200000u /* of one series */

/* Values of one series, one per interval; NaN = no sample. */
struct test_series {
        enum series_id id; /* 0: a band */
        const char *band;
        double *values;
        size_t n;
};

struct test_input {
        const char *target;
        uint64_t interval_ns;
        struct tracker_config trend;
        struct test_series series[TEST_SERIES_MAX];
        size_t n_series;
        char *logs[TEST_LOGS_MAX]; /* paths, instead of series: successive runs */
        size_t n_logs;
};

/* One change of an alert's state. */
struct test_change {
        uint64_t time_ns; /* event time */
        enum alert_state state;
        char rule[RULE_NAME_MAX + 1];
        char band[256]; /* "": none */
        enum severity severity;
        char sentence[1024];
};

struct test_changes {
        struct test_change *list; /* to free() */
        size_t n;
        uint64_t end_ns; /* event time of the run's end */
};

/* Reads the input of a test (test_input.c). False after reporting an error. Needs rules_test_input_done either way. */
bool rules_test_input(struct yaml_file *f, const yaml_node_t *node, struct test_input *ret);
void rules_test_input_done(struct test_input *in);

/* "30s" to ns; without a node *ret_ns stays. A path relative to the file of tests. */
bool rules_test_time(struct yaml_file *f, const yaml_node_t *node, uint64_t *ret_ns);
void rules_test_beside(const struct yaml_file *f, const char *path, char out[PATH_MAX]);

/* Runs the rules over the input (test_run.c). False with a sentence in `error`. */
bool rules_test_run(const struct ruleset *rules, const struct test_input *input, struct test_changes *ret,
                    struct error *error);

/*
 * The state of an alert at a time. `band` NULL: the first among all bands' in the order firing, pending, resolved,
 * inactive (test_words.c).
 */
enum alert_state rules_test_state(const struct test_changes *c, const char *rule, const char *band, uint64_t time_ns);

/* Prints the alert's changes in the whole test, a few indented lines. */
void rules_test_print_changes(const struct test_changes *c, const char *rule, const char *band);

/* "100MiB", "100MiB+1MiBx60", "_x5": appends bytes, or seconds in ns. False with what was expected in `error`. */
bool rules_test_values(const char *text, struct test_series *s, struct type type, struct error *error);

#endif
