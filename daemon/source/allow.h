/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allow.h - which sources a request may add. Sources named in the configuration
 * or on the command line are always allowed.
 *
 * A request may add what the daemon's user could read without any privilege:
 * a daemon with capabilities must not lend them to whoever can reach its
 * socket. It may not make the daemon listen, which would create files and
 * ports. Further sources are allowed by patterns in the configuration
 * (`sources.allow`), shell patterns over the URI in which `*` does not match a
 * '/'.
 *
 * Root's own request may also add the agent in a program of another user: a
 * path from agent_peer.h, whose process is checked with each connection.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/source/uri.h"
#include "proto/base/error.h"

#define LIMIT_ALLOW_PATTERNS 64

struct source_allow {
        char *patterns[LIMIT_ALLOW_PATTERNS]; /* with their scheme; owned */
        size_t n;
};

/* Adds a pattern (copied): a URI or an absolute path, with or without wildcards. False with a sentence in `error`. */
bool source_allow_add(struct source_allow *allow, const char *pattern, struct error *error);
void source_allow_done(struct source_allow *allow);

/*
 * Whether a request may add this source (`allow` NULL: no patterns; `by_root`: root asks, over a local socket). False
 * with what to do in `error`, which does not reveal whether the file exists.
 */
bool source_allowed(const struct source_allow *allow, const struct source_uri *uri, bool by_root, struct error *error);
