/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notice.h - one transition of one alert, as plain data.
 *
 * Whoever judges the rules fills a struct notice with pointers of its own and
 * passes it on for one call.
 *
 * Pure: no input or output, no clock. What is not known is NULL, has_... false,
 * or NOTICE_NO_TIME; never 0.
 */
#ifndef HW_DAEMON_RULES_NOTICE_H
#define HW_DAEMON_RULES_NOTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTICE_NO_TIME UINT64_MAX

enum notice_state {
        NOTICE_INACTIVE, /* was pending and is no longer: only published */
        NOTICE_PENDING,  /* the condition holds, not yet for long enough: only published */
        NOTICE_FIRING,   /* acted on */
        NOTICE_RESOLVED  /* was firing: acted on */
};

enum notice_severity { NOTICE_INFO, NOTICE_WARNING, NOTICE_CRITICAL };

struct notice_pair {
        const char *name, *value;
};

struct notice {
        uint64_t fingerprint; /* notice_fingerprint(): the same alert has the same one, in all its states */
        const char *target;
        uint32_t run;             /* of the target, from 1; 0 = before the first */
        const char *rule, *group; /* names of the rule and of its group */
        const char *band;         /* label of the band; NULL = the alert is about the whole target */
        const char *band_source;  /* where in the program's source it comes from; NULL = not known */
        const char *band_name;    /* tells bands of one label apart; NULL = no need, or not known */
        enum notice_severity severity;
        enum notice_state state; /* reached by this transition */

        bool has_value;         /* false: the expression had no number */
        double value;           /* in the unit of the rule's expression */
        const char *value_text; /* for people, with its unit: "1.23 MiB/min"; NULL = no number */
        const char *sentence;   /* one plain sentence: what is wrong */

        const struct notice_pair *labels, *annotations; /* templates already filled in; names unique */
        size_t n_labels, n_annotations;

        /* Event time is nanoseconds since the program's runtime began; wall time is Unix time. */
        uint64_t time_ns, wall_ns;          /* of this transition */
        uint64_t active_ns, active_wall_ns; /* since when the condition holds (or held) */
        uint64_t fired_ns, fired_wall_ns;   /* since when it fires (or fired); NOTICE_NO_TIME before */
};

/*
 * What is the same about an alert in all its states. Equal on every machine and
 * in every run, as long as these are; band and band_name may be NULL.
 */
uint64_t notice_fingerprint(const char *group, const char *rule, const char *target, const char *band,
                            const char *band_name);

/* "inactive", "pending", "firing", "resolved"; "info", "warning", "critical". Static. */
const char *notice_state_name(enum notice_state state);
const char *notice_severity_name(enum notice_severity severity);

#endif
