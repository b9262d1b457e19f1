/* SPDX-License-Identifier: BSD-3-Clause */
/* answers_json.h - the answers about a target (client/answers) in the form of docs/WEB.md, "Answers". */
#ifndef HW_CLIENT_API_ANSWERS_JSON_H
#define HW_CLIENT_API_ANSWERS_JSON_H

#include "client/answers/account.h"
#include "proto/base/json_out.h"

/* Member `key` of an object: the account's rows, {"key":...,"tone":...,"text":...,"timeNs":...,"after":...} each. */
void account_rows_print(struct json_out *j, const char *key, const struct account *a);

/*
 * {"daemon":0,"target":...,"answers":[...],...} on a line of its own. Unless `whole`, only what a table of many
 * targets shows; otherwise with the account of a bad end.
 */
void answers_print(struct json_out *j, const struct world_target *t, bool live, bool whole);

#endif
