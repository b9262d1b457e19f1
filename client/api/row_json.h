/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * row_json.h - what a table shows of one target among a thousand, as updates with a few fields each; and how any body
 * of a target is printed. Its verdict is in the answers.
 */
#ifndef HW_CLIENT_API_ROW_JSON_H
#define HW_CLIENT_API_ROW_JSON_H

#include "client/api/state_json.h"

/* An update of this target without a body. */
Hw__Update row_frame(const struct world_target *t);

/* Prints an update with this message as its body. */
#define PRINT_BODY(j, t, CASE, field, message)                                                                         \
        do {                                                                                                           \
                Hw__Update body_update = row_frame(t);                                                                 \
                                                                                                                       \
                body_update.body_case = HW__UPDATE__BODY_##CASE;                                                       \
                body_update.field = (void *)(message);                                                                 \
                state_print_update((j), (t)->daemon, &body_update);                                                    \
        } while (0)

/* Its state, without the sequences of its topics, which concern subscribers alone. */
void row_print_target(struct json_out *j, const struct world_target *t, const Hw__Run *run);

/* Its alerts, if any are judged. */
void row_print_alerts(struct json_out *j, const struct world_target *t);

void row_print(struct json_out *j, const struct world_target *t);

#endif
