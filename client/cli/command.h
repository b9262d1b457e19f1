/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - the subcommands of heapwatch; main.c has them in a table. */
#pragma once

#include "proto/cli/command.h"
#include "proto/cli/complete.h"

/* Texts of a command, ended by NULL: its usage, its examples. */
#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

extern const struct command command_top;
extern const struct command command_pipe;
extern const struct command command_ctl;
extern const struct command command_status;
extern const struct command command_add;
extern const struct command command_remove;
extern const struct command command_alerts;
extern const struct command command_rules;
extern const struct command command_check;
extern const struct command command_run;
extern const struct command command_attach;
extern const struct command command_detach;
extern const struct command command_ps;
extern const struct command command_doctor;
extern const struct command command_summary;
extern const struct command command_web;
extern const struct command command_report;
extern const struct command command_events;
extern const struct command command_convert;
extern const struct command command_trend;
extern const struct command command_diff;
extern const struct command command_archive;
extern const struct command command_history;
extern const struct command command_notify;
extern const struct command command_export;
extern const struct command command_recordings;
extern const struct command command_dump;
extern const struct command command_bundle;
extern const struct command command_post_mortem;
extern const struct command command_keys;
extern const struct command command_threads;
extern const struct command command_heap;
extern const struct command command_why;
extern const struct command command_profile;
extern const struct command command_query;
extern const struct command command_mcp;
extern const struct command command_completion;

/* completion.c: targets, series and rules of the user's own daemon; nothing when it does not answer at once. */
void completion_values(const struct complete_place *p);
