/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/diff/two_logs.h"

#include "client/diff/print.h"
#include "client/cli/command.h"

bool two_logs_json(struct json_out *j, const struct command *command, const char *baseline, const char *new_log)
{
        static const struct part whole;
        struct side a = { .n = 0 }, b = { .n = 0 };
        struct result result = { .shown = 0 };
        bool good = side_read(&b, command, baseline, &whole) && side_read(&a, command, new_log, &whole);

        if (good && compare(&a, &b, &result.comparison)) {
                command_error(command, "out of memory");
                good = false;
        }
        if (good)
                put_json(j, &result);
        comparison_done(&result.comparison);
        side_done(&a);
        side_done(&b);
        return good;
}
