/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_json.h - a profile of CPU time and of what waits, or of allocation, as JSON (docs/WEB.md, "Profiles"). */
#ifndef HW_CLIENT_API_CPU_JSON_H
#define HW_CLIENT_API_CPU_JSON_H

#include "client/state/cpu_tree.h"
#include "proto/base/json_out.h"

/* Its members, into an object that is open. */
void cpu_json_members(struct json_out *j, const struct cpu_trees *t);

#endif
