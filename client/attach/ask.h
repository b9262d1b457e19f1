/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.h - one request to an agent, on its socket (docs/AGENT.md). */
#ifndef HW_CLIENT_ATTACH_ASK_H
#define HW_CLIENT_ATTACH_ASK_H

#include <stdbool.h>

#include "proto/base/error.h"

#define ASK_MS 10000 /* for the answer: a program that is not threaded gives it at its next collection */

/* False with one plain sentence: nobody there, no answer in time, or what the agent said against it. */
bool ask_agent(const char *path, const char *request, struct error *error);

#endif
