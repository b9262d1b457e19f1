/* SPDX-License-Identifier: BSD-3-Clause */
/* answers_json.h - the answers about a target (client/answers) in the form of docs/WEB.md, "Answers". */
#ifndef HW_CLIENT_API_ANSWERS_JSON_H
#define HW_CLIENT_API_ANSWERS_JSON_H

#include "client/state/world.h"
#include "proto/base/json_out.h"

/*
 * {"daemon":0,"target":...,"answers":[...],...} on a line of its own. Unless `whole`, only what a table of many
 * targets shows.
 */
void answers_print(struct json_out *j, const struct world_target *t, bool live, bool whole);

#endif
