/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - heapwatch: only subcommands, each a line of the table. */
#include "client/cli/command.h"

#include <cairo.h>
#include <curl/curl.h>
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/layout.h"
#include "client/cli/endpoints.h"
#include "client/cli/front.h"
#include "client/cli/signals.h"
#include "daemon/watch/config/config.h"
#include "inspect/ghc/layout.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/nearest.h"
#include "proto/cli/command.h"
#include "proto/cli/options.h"
#include "proto/cli/version.h"

static const struct command command_help, command_version;

#define LIST(...) ((const struct command *const[]){ __VA_ARGS__, NULL })

/* A name of two words is a command that belongs to another one. */
static const struct group {
        const char *title;
        const struct command *const *commands;
} groups[] = {
        { "watch", LIST(&command_run, &command_attach, &command_detach, &command_ps, &command_status, &command_top,
                        &command_web) },
        { "look inside", LIST(&command_threads, &command_heap, &command_why, &command_profile) },
        { "judge", LIST(&command_trend, &command_alerts, &command_check, &command_post_mortem) },
        { "compare and convert", LIST(&command_query, &command_summary, &command_diff, &command_report,
                                      &command_convert, &command_events, &command_pipe, &command_mcp) },
        { "keep", LIST(&command_recordings, &command_dump, &command_bundle, &command_archive, &command_history) },
        { "administer",
          LIST(&command_add, &command_remove, &command_ctl, &command_rules, &command_doctor, &command_keys,
               &command_export, &command_notify, &command_completion, &command_help, &command_version) },
};

/* The n-th command in the order of the groups, or NULL. */
static const struct command *nth_command(size_t n)
{
        for (size_t g = 0; g < ARRAY_SIZE(groups); g++)
                for (size_t i = 0; groups[g].commands[i]; i++)
                        if (n-- == 0)
                                return groups[g].commands[i];
        return NULL;
}

static const char *nth_name(size_t n)
{
        const struct command *c = nth_command(n);

        return c ? c->name : NULL;
}

static bool is_part(const struct command *c)
{
        return strchr(c->name, ' ') != NULL;
}

/* `heapwatch --help`: what one screen holds. */
static void print_short_help(FILE *to)
{
        (void)fputs(
                "heapwatch watches the memory of GHC-compiled Haskell programs while they run.\n"
                "\n"
                "  heapwatch run -- ./my-server     start a program and watch it\n"
                "  heapwatch attach my-server       watch one that is already running\n"
                "  heapwatch trend my-server        does it leak, where, since when, until when\n"
                "  heapwatchd api=/var/tmp/api.eventlog &   watch a growing eventlog; `heapwatch top` shows it\n"
                "\n",
                to);
        for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
                (void)fprintf(to, "  %-19s ", groups[g].title);
                for (size_t i = 0; groups[g].commands[i]; i++)
                        if (!is_part(groups[g].commands[i]))
                                (void)fprintf(to, " %s", groups[g].commands[i]->name);
                (void)fputc('\n', to);
        }
        (void)fputs(
                "\n"
                "  heapwatch help             each command in one line\n"
                "  heapwatch COMMAND --help   what it does, its options, examples\n"
                "\n"
                "Exit status: 0 all well, 1 a finding, 2 usage or bad input.\n",
                to);
}

static const struct command *find_command(const char *name)
{
        const struct command *c;

        for (size_t i = 0; (c = nth_command(i)) && strcmp(c->name, name) != 0; i++)
                ;
        return c;
}

/* The command of the first words; *ret_words: how many name it. */
static const struct command *find_words(int n, char **words, int *ret_words)
{
        char name[64];
        const struct command *c = NULL;

        if (n > 1 && snprintf(name, sizeof(name), "%s %s", words[0], words[1]) < (int)sizeof(name))
                c = find_command(name);
        *ret_words = c ? 2 : 1;
        return c ? c : find_command(words[0]);
}

/* Words of other tools for what a command does here. */
static const char *const meant_by[][2] = {
        { "dump", "recording dump" },
        { "bundle", "recording bundle" },
        { "recordings", "recording" },
        { "history", "archive history" },
        { "list", "status" },
        { "ls", "status" },
        { "targets", "status" },
        { "logs", "events" },
        { "log", "events" },
        { "stop", "detach" },
        { "kill", "detach" },
        { "start", "run" },
        { "exec", "run" },
        { "watch", "attach" },
        { "monitor", "top" },
        { "show", "top" },
        { "leak", "trend" },
        { "stacks", "threads" },
        { "jstack", "threads" },
        { "inspect", "heap" },
        { "histogram", "heap" },
        { "retainers", "why" },
        { "retained", "why" },
        { "flamegraph", "profile" },
        { "flame", "profile" },
        { "perf", "profile" },
        { "sample", "profile" },
        { "verdict", "trend" },
        { "compare", "diff" },
        { "metrics", "export" },
        { "assistant", "mcp" },
        { "record", "recording" },
        { "silence", "ctl" },
        { "census", "ctl" },
        { "svg", "report -o FILE.svg" },
        { "plot", "report -o FILE.svg" },
        { "html", "report" },
};

static int report_unknown(const char *name)
{
        struct nearest near = { .typed = name };
        const char *meant = NULL;

        for (size_t i = 0; i < ARRAY_SIZE(meant_by) && !meant; i++)
                if (!strcmp(meant_by[i][0], name))
                        meant = meant_by[i][1];
        for (size_t n = 0; nth_name(n); n++)
                nearest_try(&near, nth_name(n));
        if (!meant)
                meant = near.found;
        (void)fprintf(stderr, "heapwatch: unknown command '%s'%s%s%s; see `heapwatch --help`\n", name,
                      meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        return EXIT_USAGE;
}

/* ------------------------------------------------------- help and version */

struct about {
        struct text_list words; /* of a command's name; none: all commands */
};

static int run_help(void *filled)
{
        struct about *about = filled;
        int words = 0, n = (int)about->words.n;
        const struct command *c = n ? find_words(n, (char **)about->words.items, &words) : NULL;

        if (n && (!c || n > words))
                return report_unknown(about->words.items[c ? words : 0]);
        if (c) {
                help_print(stdout, c);
                return EXIT_OK;
        }
        (void)puts("usage: heapwatch COMMAND [OPTION]...");
        for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
                printf("\n%s\n", groups[g].title);
                for (size_t i = 0; groups[g].commands[i]; i++)
                        help_print_term(stdout, groups[g].commands[i]->name, 18, groups[g].commands[i]->summary);
        }
        (void)puts("\n  heapwatch COMMAND --help   what it does, its options, examples");
        return EXIT_OK;
}

/* "ncurses 6.4.20221231": without the name. */
static const char *curses_release(void)
{
        const char *text = curses_version();
        const char *blank = strchr(text, ' ');

        return blank ? blank + 1 : text;
}

/* The front has not loaded the libraries: it leaves their releases to `heapwatch version`. */
static void print_version_details(FILE *to)
{
        struct library_version libraries[DAEMON_LIBRARIES + 4];
        struct version_details details = {
                .commit = HEAPWATCH_COMMIT,
                .libraries = libraries,
                .ghc = EVENTLOG_RELEASES "; RtsFlags of " LAYOUT_RELEASES "; heaps of " GHC_RELEASES,
        };

        if (!front_is_this()) {
                const struct library_version own[] = {
                        { "curl", curl_version_info(CURLVERSION_NOW)->version },
                        { "SQLite", sqlite3_libversion() },
                        { "cairo", cairo_version_string() },
                        { "ncurses", curses_release() },
                };

                libraries_list(libraries);
                memcpy(libraries + DAEMON_LIBRARIES, own, sizeof(own));
                details.n_libraries = ARRAY_SIZE(libraries);
        }
        version_print_details(to, &details);
}

static int run_version(void *filled)
{
        version_print(stdout, "heapwatch");
        return EXIT_OK;
}

static const struct command command_help = {
        .name = "help",
        .summary = "what a command does, its options, examples",
        .usage = TEXTS("[COMMAND]"),
        .options =
                (const struct option[]){
                        { .argument = "COMMAND",
                          .type = OPTION_IS_LIST,
                          .most = 2,
                          .nth_word = nth_name,
                          OPTION_AT(struct text_list, struct about, words) },
                        OPTIONS_END,
                },
        .examples = TEXTS("heapwatch help top"),
        .size = sizeof(struct about),
        .run = run_help,
        .offline = true,
};

static const struct command command_version = {
        .name = "version",
        .summary = "the version of this program, its libraries, the GHCs that it knows",
        .usage = TEXTS(""),
        .examples = TEXTS("heapwatch version"),
        .run = run_version,
};

/* ------------------------------------------------------------------- main */

/* `--complete WORD...`, for shells; the first word is the command's name, or its beginning. */
static int complete_command_line(int n, char **words)
{
        const struct command *c = NULL, *each;
        struct complete_place place = { .word = n > 0 ? words[n - 1] : "", .prefix = "", .to = stdout };
        const size_t size = n > 0 ? strlen(words[0]) : 0;
        int n_name = 1;

        if (n > 1)
                c = n > 2 ? find_words(n, words, &n_name) : find_command(words[0]);
        /* Commands of two words; where a command has verbs, they are among these. */
        for (size_t i = 0; n == 2 && !(c && c->verbs) && (each = nth_command(i)); i++)
                if (!strncmp(each->name, words[0], size) && each->name[size] == ' ')
                        complete_offer(&place, each->name + size + 1, each->summary);
        if (c) {
                complete_words(stdout, c, n - n_name, words + n_name, completion_values);
        } else if (n <= 1) {
                for (size_t i = 0; (each = nth_command(i)); i++)
                        if (!is_part(each))
                                complete_offer(&place, each->name, each->summary);
                complete_offer(&place, "--help", NULL);
                complete_offer(&place, "--version", NULL);
        }
        return EXIT_OK;
}

static int run_command(int argc, char **argv)
{
        const struct command *c;
        int words;

        if (argc < 2) {
                print_short_help(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
                print_short_help(stdout);
                return EXIT_OK;
        }
        if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
                return run_version(NULL);
        if (!strcmp(argv[1], "--complete"))
                return complete_command_line(argc - 2, argv + 2);
        if (!strcmp(argv[1], "--man")) { /* the part of heapwatch(1) about commands */
                for (size_t i = 0; (c = nth_command(i)); i++)
                        help_print_man(stdout, c);
                return EXIT_OK;
        }
        c = find_words(argc - 1, argv + 1, &words);
        if (!c)
                return report_unknown(argv[1]);
        const int status = command_main(c, argc - words, argv + words);
        if (c->stops)
                signals_die();
        return status;
}

static int prepare_command(const struct command *c)
{
        struct error error;

        if (front_is_this() && !c->offline)
                front_continue();
        /* Not for `run`, which runs the program all the same. */
        if (!front_is_this() && c != &command_run && !descriptors_suffice(&error))
                return command_error(c, "%s", error.text);
        if (c->stops)
                signals_catch(false);
        return EXIT_OK;
}

int main(int argc, char **argv)
{
        command_standard_descriptors();
        /* Of the user's locale the encoding alone: in Turkish the small letter of I is no i. */
        (void)setlocale(LC_CTYPE, "");
        (void)setlocale(LC_CTYPE, strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ? "C" : "C.UTF-8");
        command_set_up();
        option_endpoints = &endpoints_by_name;
        version_print_more = print_version_details;
        front_set_arguments(argc, argv);
        command_before_run = prepare_command;
        if (!front_is_this())
                (void)prctl(PR_SET_NAME, "heapwatch"); /* for ps and pgrep: which of the two it is matters to nobody */
        return command_exit("heapwatch", run_command(argc, argv));
}
