/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/control/requests.h"

#include "daemon/watch/control/notifier.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"

static bool reload(struct rulebook *book, struct targets *targets, struct notifier *notifier,
                   struct diagnostics *ret_diagnostics)
{
        struct error_sink says = diagnostics_gather(ret_diagnostics);
        struct ruleset *rules = rulebook_read(book, &says);

        if (!rules) {
                log_error("rules not reloaded, the old ones stay in force: %s", ret_diagnostics->text);
                return false;
        }
        targets_reload(targets, rules);
        rulebook_change(book, rules);
        notifier_rules(notifier, targets, rules);
        log_info("rules=%zu reloaded", rules->n);
        return true;
}

bool reload_rules(struct rulebook *book, struct targets *targets, struct notifier *notifier,
                  struct diagnostics *ret_diagnostics)
{
        watchdog_begin(WATCHDOG_RELOAD);
        bool done = reload(book, targets, notifier, ret_diagnostics);
        watchdog_end();
        return done;
}
