/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the input of a test, from YAML to plain data: synthetic series and bands, or logs, and trend settings. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "heapwatch/wire.h"
#include "daemon/rules/test/rule_test.h"
#include "proto/base/error.h"

#define INTERVAL_NS UINT64_C(1000000000)

void rules_test_beside(const struct yaml_file *f, const char *path, char out[PATH_MAX])
{
        char self[PATH_MAX];

        snprintf(self, sizeof(self), "%s", f->name);
        if (path[0] == '/')
                snprintf(out, PATH_MAX, "%s", path);
        else
                snprintf(out, PATH_MAX, "%s/%s", dirname(self), path);
}

/* ------------------------------------------------------------------------ input */

bool rules_test_time(struct yaml_file *f, const yaml_node_t *node, uint64_t *ret_ns)
{
        const char *text = yaml_text(f, node, "a time such as 10m");

        if (!node)
                return true;
        if (!text)
                return false;
        return hw_parse_duration(text, ret_ns) ||
               yaml_error(f, node, 0, "'%s'; expected a time such as 30s, 5m or 2h", text);
}

/* What is computed from other series cannot. */
static bool can_be_given(Hw__Series id)
{
        return id != HW__SERIES__SERIES_NONE && id != HW__SERIES__SERIES_CENSUS_TOTAL &&
               id != HW__SERIES__SERIES_FOREIGN && id != HW__SERIES__SERIES_LIVE_RESIDENT &&
               id != HW__SERIES__SERIES_RESERVE && id != HW__SERIES__SERIES_KEPT;
}

/* By the names used in expressions. */
static enum series_id series_named(const char *name, struct type *ret_type)
{
        const struct series_word *word = series_word_find(name, strlen(name));

        if (!word || (unsigned)word->id >= SERIES_COUNT || !can_be_given((Hw__Series)word->id))
                return 0;
        *ret_type = word->type;
        return (enum series_id)word->id;
}

static bool read_values(struct yaml_file *f, const struct yaml_entry *e, struct test_input *in, bool of_bands)
{
        struct test_series *series = &in->series[in->n_series];
        const char *text = yaml_text(f, e->value, "values such as 5MiB+1MiBx10");
        struct type type = TYPE_BYTES;
        struct error error;

        if (!text)
                return false;
        if (in->n_series == TEST_SERIES_MAX)
                return yaml_error(f, e->key_node, 0, "at most %d series and bands", TEST_SERIES_MAX);
        *series = (struct test_series){ .id = of_bands ? 0 : series_named(e->key, &type), .band = e->key };
        if (!of_bands && !series->id)
                return yaml_error(
                        f, e->key_node, 0,
                        "'%s' cannot be given; expected live, heap, blocks, "
                        "allocated, gc_pause, copied, slop, fragmentation, rss, given_back, files, pss, swap, cgroup "
                        "or cpu",
                        e->key);
        in->n_series++;
        return rules_test_values(text, series, type, &error) || yaml_error(f, e->value, 0, "%s", error.text);
}

static bool read_series(struct yaml_file *f, const yaml_node_t *node, struct test_input *in, bool of_bands)
{
        struct yaml_entry e;
        bool good = true;

        if (!node)
                return true;
        if (!yaml_is_mapping(f, node, "names and values"))
                return false;
        for (size_t i = 0; yaml_entry_at(f, node, i, &e); i++)
                good = read_values(f, &e, in, of_bands) && good;
        return good;
}

static bool read_trend(struct yaml_file *f, const yaml_node_t *node, struct test_input *in)
{
        const yaml_node_t *limit = yaml_get(f, node, "limit");
        const char *text = yaml_text(f, limit, "bytes such as 2GiB");
        uint64_t resolution = TREND_MINUTE_NS, leak_after = 0;

        if (!rules_test_time(f, yaml_get(f, node, "resolution"), &resolution) ||
            !rules_test_time(f, yaml_get(f, node, "leak_after"), &leak_after) || (limit && !text))
                return false;
        if (resolution == 0)
                return yaml_error(f, node, 0, "resolution: expected more than 0s");
        in->trend = tracker_config_scaled(resolution);
        if (leak_after)
                in->trend.trend.leak_after_ns = leak_after;
        if (!trend_config_valid(&in->trend.trend))
                return yaml_error(f, node, 0, "leak_after: expected at least twenty times the resolution");
        if (text && !hw_parse_bytes(text, &in->trend.given_limit_bytes))
                return yaml_error(f, limit, 0, "'%s'; expected bytes such as 2GiB", text);
        return true;
}

static bool read_log(struct yaml_file *f, const yaml_node_t *node, struct test_input *in)
{
        const char *text = yaml_text(f, node, "the path of a log");
        char path[PATH_MAX];

        if (!text)
                return false;
        if (in->n_logs == TEST_LOGS_MAX)
                return yaml_error(f, node, 0, "at most %d logs", TEST_LOGS_MAX);
        rules_test_beside(f, text, path);
        in->logs[in->n_logs] = strdup(path);
        return in->logs[in->n_logs++] || yaml_error(f, node, 0, "out of memory");
}

/* One log, or a list of them: successive runs of the target. */
static bool read_logs(struct yaml_file *f, const yaml_node_t *node, struct test_input *in)
{
        const yaml_node_t *item;
        bool good = true;

        if (!node)
                return true;
        if (node->type == YAML_SCALAR_NODE)
                return read_log(f, node, in);
        if (!yaml_is_sequence(f, node, "the path of a log, or a list of them"))
                return false;
        for (size_t i = 0; good && (item = yaml_item_at(f, node, i)); i++)
                good = read_log(f, item, in);
        return good;
}

bool rules_test_input(struct yaml_file *f, const yaml_node_t *node, struct test_input *in)
{
        const yaml_node_t *target = yaml_get(f, node, "target"), *path = yaml_get(f, node, "log");
        bool good = true;

        in->interval_ns = INTERVAL_NS;
        in->target = target ? yaml_text(f, target, "the name of a target") : "test";
        if (!in->target || !hw_target_name_valid(in->target))
                good = yaml_error(f, target, 0, "expected the name of a target: A-Z a-z 0-9 . _ -");
        good = rules_test_time(f, yaml_get(f, node, "interval"), &in->interval_ns) && good;
        if (in->interval_ns == 0)
                good = yaml_error(f, node, 0, "interval: expected more than 0s");
        good = read_series(f, yaml_get(f, node, "series"), in, false) && good;
        good = read_series(f, yaml_get(f, node, "bands"), in, true) && good;
        good = read_logs(f, path, in) && good;
        if (good && !in->n_logs == !in->n_series)
                good = yaml_error(f, node, 0, "expected either log: or series: and bands:");
        return read_trend(f, node, in) && good;
}

void rules_test_input_done(struct test_input *in)
{
        for (size_t i = 0; i < in->n_series; i++)
                free(in->series[i].values);
        for (size_t i = 0; i < in->n_logs; i++)
                free(in->logs[i]);
}
