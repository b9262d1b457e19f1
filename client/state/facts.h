/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * facts.h - the newest value of each number of proto/facts/facts.def, of a target. Nothing else in the client knows
 * where a number is. `place` in the table is FIELD(message, field) of struct world_target, INNER(message, message in
 * it, field), CALL(function) of facts.c, or CARRIED.
 */
#ifndef HW_CLIENT_STATE_FACTS_H
#define HW_CLIENT_STATE_FACTS_H

#include "client/state/world.h"
#include "proto/base/json_out.h"
#include "proto/facts/facts.h"

/* The newest value, NAN: unknown. */
double facts_get(const struct world_target *t, enum fact id);

/* The same as an integer; `otherwise` when it is unknown. */
uint64_t facts_get_u64(const struct world_target *t, enum fact id, uint64_t otherwise);
bool facts_is_known(const struct world_target *t, enum fact id);

/*
 * A member of a JSON object: the number as such under `key`; nothing when it is unknown.
 */
void facts_print(struct json_out *j, const char *key, const struct world_target *t, enum fact id);

#endif
