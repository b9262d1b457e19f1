/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.h - what main.c needs of a subcommand: one entry in a table.
 *
 * Exit status of every command: 0 all well, 1 a finding (something is wrong
 * with what was looked at), 2 usage or bad input. Messages go to stderr as
 * `heapwatch COMMAND: what; what to do`.
 */
#ifndef HW_CLIENT_CLI_COMMAND_H
#define HW_CLIENT_CLI_COMMAND_H

enum { EXIT_OK = 0, EXIT_FINDING = 1, EXIT_USAGE = 2 };

struct command {
        const char *name;
        const char *summary;               /* one line for `heapwatch --help` */
        const char *help;                  /* whole text of `heapwatch NAME --help`, with an example */
        int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
};

extern const struct command command_top;
extern const struct command command_pipe;
extern const struct command command_ctl;
extern const struct command command_alerts;
extern const struct command command_rules;
extern const struct command command_check;
extern const struct command command_run;
extern const struct command command_doctor;
extern const struct command command_replay;
extern const struct command command_summary;
extern const struct command command_web;
extern const struct command command_report;
extern const struct command command_events;
extern const struct command command_convert;
extern const struct command command_trend;

/* Prints `heapwatch NAME: message` and a hint to --help to stderr; returns EXIT_USAGE. */
int command_usage_error(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints `heapwatch NAME: message` to stderr. */
void command_error(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
