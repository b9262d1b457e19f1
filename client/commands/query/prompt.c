/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a line comes from libedit or from getline(3); what is done with it is the same. SIGINT jumps out of libedit,
 * which would read on: the next line begins anew.
 */
#include "client/commands/query/prompt.h"

#include <ctype.h>
#include <editline/readline.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "client/cli/signals.h"
#include "proto/base/text_out.h"
#include "proto/base/whole_file.h"

#define HISTORY_LINES 1000
#define QUERY_MAX     ((size_t)1 << 20)

/* ------------------------------------------------------------------ completion */

/* libedit's functions have no context. */
static struct {
        const struct prompt *prompt;
        const char *lines; /* of the query before this one; NULL: none */
        char *const *list; /* what it may be */
        char **texts;      /* NULL: not read yet, or there are none */
        bool is_read;
        const char *begun; /* of a text: from its quote on; NULL: a word, whatever its case */
        size_t passed;     /* bytes of it that libedit does not complete */
} completing;

/*
 * The next of the list, behind what libedit does not complete: it has split a name such as `Main.go x` at its blank.
 */
static char *next_match(const char *begun, int state)
{
        static char *const *next;
        const size_t n = strlen(completing.begun ? completing.begun : begun);

        if (state == 0)
                next = completing.list;
        for (; next && *next; next++)
                if (completing.begun ? !strncmp(*next, completing.begun, n) : !strncasecmp(*next, begun, n))
                        return strdup(*next++ + completing.passed);
        return NULL;
}

/* Where the text begins in which that place of the line is; -1: it is in none. */
static int find_open_text(const char *line, int place)
{
        int begin = -1;

        for (int i = 0; i < place; i++)
                if (line[i] == '\'')
                        begin = begin < 0 ? i + 1 : -1;
        return begin;
}

static void free_list(char ***list)
{
        for (char **text = *list; text && *text; text++)
                free(*text);
        free(*list);
        *list = NULL;
}

/* The words that can be there: those of the query's own tables where there is a dot. */
static char **complete_name(const char *begun)
{
        const char *dot = strrchr(begun, '.');
        char *qualifier = strndup(begun, dot ? (size_t)(dot - begun) : 0), *sql = NULL;
        char **matches = NULL;

        if (qualifier && asprintf(&sql, "%s%s", completing.lines ? completing.lines : "", rl_line_buffer) >= 0) {
                char **words = completing.prompt->read_words(completing.prompt->ctx, sql, qualifier);

                completing.list = words;
                matches = rl_completion_matches(begun, next_match);
                free_list(&words);
                free(sql);
        }
        free(qualifier);
        if (matches && matches[0] && *matches[0] && strchr(matches[0], '.') == matches[0] + strlen(matches[0]) - 1)
                rl_completion_append_character = '\0'; /* of a source the table follows */
        return matches;
}

static char **complete_text(const char *begun, int text, int start, int end)
{
        char **matches, *from_quote = strndup(rl_line_buffer + text, (size_t)(end - text));

        if (!from_quote)
                return NULL;
        if (!completing.is_read)
                completing.texts = completing.prompt->read_texts(completing.prompt->ctx);
        completing.is_read = true;
        completing.begun = from_quote;
        completing.passed = (size_t)(start - text);
        completing.list = completing.texts;
        matches = rl_completion_matches(begun, next_match);
        free(from_quote);
        completing.begun = NULL;
        completing.passed = 0;
        return matches;
}

static char **complete_word(const char *begun, int start, int end)
{
        const int text = find_open_text(rl_line_buffer, start);
        sigset_t interrupt, before;

        rl_attempted_completion_over = 1; /* no file names */
        rl_completion_append_character = text < 0 ? ' ' : '\'';
        (void)sigemptyset(&interrupt); /* whose handler would jump out of what is read */
        (void)sigaddset(&interrupt, SIGINT);
        (void)sigprocmask(SIG_BLOCK, &interrupt, &before);
        char **matches = text < 0 ? complete_name(begun) : complete_text(begun, text, start, end);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        return matches;
}

/* --------------------------------------------------------------------- history */

/* Queries may name what a program works on: a file of the user's alone. False: there is no place for one. */
static bool find_history(char path[PATH_MAX])
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
        const bool given = state && state[0] == '/';
        struct stat st;

        if (!given && (!home || home[0] != '/' || stat(home, &st) != 0 || st.st_uid != geteuid()))
                return false;
        (void)text_join(path, PATH_MAX, given ? state : home, given ? "" : "/.local/state", "/heapwatch/query-history",
                        NULL);
        return whole_file_directories(path) == 0;
}

static void write_history_file(const char *path)
{
        const mode_t before = umask(077);

        (void)chmod(path, 0600); /* of one that is there the mode stays */
        (void)write_history(path);
        (void)umask(before);
}

/* ----------------------------------------------------------------------- lines */

static sigjmp_buf interrupted;

static void on_interrupt(int number)
{
        siglongjmp(interrupted, 1);
}

/* To free(); NULL: the end, or (*ret_interrupted) SIGINT. */
static char *read_typed(const char *prompt, bool *ret_interrupted)
{
        const struct sigaction jump = { .sa_handler = on_interrupt };
        struct sigaction before;
        char *volatile line = NULL;

        *ret_interrupted = sigsetjmp(interrupted, 1) != 0;
        if (!*ret_interrupted) {
                (void)sigaction(SIGINT, &jump, &before);
                line = readline(prompt);
        }
        signals_catch(true);
        return line;
}

static char *read_piped(void)
{
        char *line = NULL;
        size_t size = 0;

        if (getline(&line, &size, stdin) < 0) {
                free(line);
                return NULL;
        }
        line[strcspn(line, "\n")] = '\0';
        return line;
}

/* --------------------------------------------------------------------- queries */

static bool is_blank(const char *text)
{
        return text[strspn(text, " \t\r\n;")] == '\0';
}

/* What has been read of a query. */
struct begun {
        char *text;
        size_t n;
};

static bool add_line(struct begun *b, const char *line)
{
        const size_t length = strlen(line);
        char *text = b->n + length < QUERY_MAX ? realloc(b->text, b->n + length + 2) : NULL;

        if (!text)
                return false;
        b->text = text;
        (void)snprintf(b->text + b->n, length + 2, "%s\n", line);
        b->n += length + 1;
        return true;
}

static void drop_begun(struct begun *b)
{
        free(b->text);
        *b = (struct begun){ .text = NULL };
}

/* As one line, which is how libedit shows a query again; not where a line ends a comment. */
static void remember_query(const char *text)
{
        char *line = strstr(text, "--") ? NULL : strdup(text);

        for (char *at = line; at && (at = strchr(at, '\n')) != NULL;)
                *at = ' ';
        (void)add_history(line ? line : text);
        free(line);
}

/* Answers what has been read, each query of it up to the first mistake. The exit status; -1: there was none. */
static int answer_begun(const struct prompt *p, struct begun *b, bool is_terminal)
{
        int status = -1;

        while (b->n > 0 && isspace((unsigned char)b->text[b->n - 1]))
                b->text[--b->n] = '\0';
        if (is_terminal && b->n > 0)
                remember_query(b->text);
        for (const char *rest = b->text; rest && status <= EXIT_OK;) {
                const int answered = p->answer(p->ctx, rest, &rest);

                status = answered > status ? answered : status;
        }
        if (is_terminal && signals_stop())
                (void)putchar('\n'); /* behind the terminal's ^C */
        (void)fflush(stdout);
        drop_begun(b);
        return status;
}

/* False: it was the last line. *ret_status: of a query that ended with it. */
static bool process_line(const struct prompt *p, struct begun *b, const char *line, bool is_terminal, int *ret_status)
{
        int status = -1;

        if (b->n == 0 && line[0] == '.') {
                if (is_terminal)
                        (void)add_history(line);
                const int done = p->command(p->ctx, line);
                *ret_status = done > *ret_status ? done : *ret_status;
                return done != PROMPT_QUIT && (is_terminal || done == EXIT_OK);
        }
        if (!add_line(b, line)) {
                drop_begun(b);
                *ret_status = command_error(p->reporter, "a query is longer than 1 MiB, or there is no memory for it");
                return is_terminal;
        }
        if (is_blank(b->text))
                drop_begun(b);
        else if (sqlite3_complete(b->text))
                status = answer_begun(p, b, is_terminal);
        if (status >= 0)
                *ret_status = status;
        return is_terminal || status <= EXIT_OK;
}

static int read_lines(const struct prompt *p, bool is_terminal)
{
        struct begun b = { .text = NULL };
        bool goes_on = true, was_interrupted = false;
        int status = -1;

        while (goes_on) {
                if (signals_stop() && (!is_terminal || !signals_forget(SIGINT)))
                        break;
                completing.lines = b.text;
                char *line =
                        is_terminal ? read_typed(b.n ? "      ...> " : "heapwatch> ", &was_interrupted) : read_piped();
                if (was_interrupted) {
                        (void)putchar('\n');
                        drop_begun(&b);
                        continue;
                }
                if (!line)
                        break;
                goes_on = process_line(p, &b, line, is_terminal, &status);
                free(line);
        }
        if (goes_on && !is_terminal && b.n > 0) {
                const int last = answer_begun(p, &b, false);
                status = last >= 0 ? last : status;
        }
        drop_begun(&b);
        return status;
}

int prompt_run(const struct prompt *p)
{
        const bool is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        char path[PATH_MAX];

        if (!is_terminal)
                return read_lines(p, false);
        (void)puts(p->greeting);
        const bool has_history = find_history(path);
        completing.prompt = p;
        rl_attempted_completion_function = complete_word;
        rl_basic_word_break_characters = " \t\n\"\\'`@$><=;|&{(,)+-*/";
        using_history();
        stifle_history(HISTORY_LINES);
        if (has_history)
                (void)read_history(path);
        (void)read_lines(p, true);
        free_list(&completing.texts);
        completing.is_read = false;
        if (has_history)
                write_history_file(path);
        (void)putchar('\n');
        return EXIT_OK;
}
