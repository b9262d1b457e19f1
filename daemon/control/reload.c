/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/reload.h"

#include "daemon/log.h"

bool reload_rules(struct rulebook *book, struct targets *targets, struct complaints *ret_complaints)
{
        struct yaml_says says = complaints_gather(ret_complaints);
        struct ruleset *rules = rulebook_read(book, &says);

        if (!rules) {
                log_error("rules: not read again, the old ones go on: %s", ret_complaints->text);
                return false;
        }
        targets_reload(targets, rules);
        rulebook_change(book, rules);
        log_info("rules=%zu read again", rules->n);
        return true;
}
