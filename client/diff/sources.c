/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/diff/sources.h"

#include "client/archive/select.h"
#include "client/cli/command.h"
#include "client/diff/archived.h"
#include "client/diff/print.h"

static bool read_one(struct side *s, const struct command *command, const char *log, const struct part *part,
                     const char *db)
{
        static const struct part whole;

        if (!select_is(log))
                return side_read(s, command, log, part ? part : &whole);
        if (!part || !part->text)
                return side_read_archive(s, command, db, log);
        command_error(command, "%s: a part of an archived run is selected by its time, not by a range", log);
        return false;
}

static bool read_side(struct side *s, const struct command *command, const struct diff_source *from, const char *db)
{
        for (size_t i = 0; i < from->n; i++)
                if (!read_one(s, command, from->logs[i], from->part, db))
                        return false;
        return true;
}

bool compare_sources(struct compared *ret, const struct command *command, const struct diff_sources *sources)
{
        if (!read_side(&ret->b, command, &sources->b, sources->db) ||
            !read_side(&ret->a, command, &sources->a, sources->db))
                return false;
        if (compare(&ret->a, &ret->b, &ret->comparison) == 0)
                return true;
        command_error(command, "out of memory");
        return false;
}

void compared_done(struct compared *c)
{
        comparison_done(&c->comparison);
        side_done(&c->a);
        side_done(&c->b);
}

bool compare_json(struct json_out *j, const struct side *baseline, const struct side *new_side)
{
        struct result result = { .strict = false };
        bool good = compare(new_side, baseline, &result.comparison) == 0;

        if (good)
                put_json(j, &result);
        comparison_done(&result.comparison);
        return good;
}

bool compare_logs_json(struct json_out *j, const struct command *command, const char *baseline, const char *new_log)
{
        const struct diff_source b = { .logs = &baseline, .n = 1 }, a = { .logs = &new_log, .n = 1 };
        struct side sides[2] = { { .n = 0 }, { .n = 0 } };
        bool good = read_side(&sides[0], command, &b, NULL) && read_side(&sides[1], command, &a, NULL) &&
                    compare_json(j, &sides[0], &sides[1]);

        side_done(&sides[0]);
        side_done(&sides[1]);
        return good;
}
