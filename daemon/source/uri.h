/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uri.h - the name of a source: `[NAME=]URI`.
 *
 *   file:PATH or PATH    a growing file        tcp:HOST:PORT           connect
 *   fifo:PATH            a named pipe          tcp-listen:HOST:PORT    accept one writer at a time
 *   stdin:               standard input        unix:PATH, unix-listen:PATH
 *   pid:PID[@START]      a process alone, without a log; START as field 22 of /proc/PID/stat
 *   outside:PID[@START]  a GHC-compiled program without a log, whose memory is read while it runs
 *
 * HOST is a numeric address (IPv6 in brackets) or localhost: nothing here looks
 * names up. tcp-listen: takes only loopback addresses.
 * Pure: text in, struct out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

#define SOURCE_PATH_MAX 1024
#define TARGET_NAME_MAX 64

enum source_kind {
        SOURCE_FILE,
        SOURCE_FIFO,
        SOURCE_STDIN,
        SOURCE_UNIX,
        SOURCE_TCP,
        SOURCE_UNIX_LISTEN,
        SOURCE_TCP_LISTEN,
        SOURCE_PROCESS,
        SOURCE_OUTSIDE
};

struct source_uri {
        enum source_kind kind;
        uint16_t port;
        uint16_t path_at;                /* where the path begins in `text`: of FILE, FIFO, UNIX*; else 0 */
        uint32_t pid;                    /* PROCESS, OUTSIDE */
        uint64_t start_ticks;            /* of the same: clock ticks from boot to its start; 0: whoever has that pid */
        char host[64];                   /* TCP*; numeric or "localhost" */
        char text[SOURCE_PATH_MAX + 16]; /* canonical form, with its scheme */
};

/*
 * How many descriptors a source of this kind has open at most: a FIFO both ends, a listener its connection, too,
 * OUTSIDE two pipes, which UNIX has beside its connection (census_reader.h).
 */
static inline size_t source_descriptors(enum source_kind kind)
{
        return kind == SOURCE_UNIX ? 3
               : kind == SOURCE_FIFO || kind == SOURCE_OUTSIDE || kind == SOURCE_UNIX_LISTEN ||
                               kind == SOURCE_TCP_LISTEN
                       ? 2
                       : 1;
}

/* Whether it names a process, which has one life. */
static inline bool source_uri_is_process(const struct source_uri *uri)
{
        return uri->kind == SOURCE_PROCESS || uri->kind == SOURCE_OUTSIDE;
}

/* "" for those without one. */
static inline const char *source_uri_path(const struct source_uri *uri)
{
        return uri->path_at ? uri->text + uri->path_at : "";
}

/* Target names: 1 to 64 of [A-Za-z0-9._-], not starting with '.' or '-'. */
bool target_name_valid(const char *name);

/* "before" of ".../before/run.eventlog" into `name`; left as it is when the path has no such folder. */
void target_name_from_folder(const char *path, char name[TARGET_NAME_MAX + 1]);

/* Parses a URI without name. False with a sentence in `error`. */
bool source_uri_parse(const char *text, struct source_uri *ret_uri, struct error *error);

/* A URI of a process for that process alone, not for a later one with the same pid. */
void source_uri_set_start(struct source_uri *uri, uint64_t start_ticks);

/* Whether a TCP* URI names this machine's loopback. */
bool source_uri_is_loopback(const struct source_uri *uri);

/*
 * Parses `[NAME=]URI` into both. What precedes a '=' is a name if neither ':' nor '/' comes earlier (a path with '=' is
 * written ./a=b). A missing name is made from the URI (base name without .eventlog, or HOST-PORT), with invalid
 * characters replaced by '-', a leading '.' or '-' by '_'.
 */
bool target_spec_parse(const char *text, char ret_name[TARGET_NAME_MAX + 1], struct source_uri *ret_uri,
                       struct error *error);
