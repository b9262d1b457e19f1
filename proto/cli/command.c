/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - messages of commands, all in one form, and the steps that all of them share. */
#include "proto/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"
#include "proto/cli/options.h"

int (*command_before_run)(const struct command *c);

const char *command_title(const struct command *c)
{
        static char title[64];

        (void)snprintf(title, sizeof(title), "%s%s%s", c->program ? c->program : "heapwatch", c->name ? " " : "",
                       c->name ? c->name : "");
        return title;
}

int command_usage_error(const struct command *c, const char *format, ...)
{
        char text[1024];
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        bool asks = *text && text[strlen(text) - 1] == '?';
        (void)fprintf(stderr, "%s: %s%s `%s --help`\n", command_title(c), text, asks ? " See" : "; see",
                      command_title(c));
        return EXIT_USAGE;
}

enum { VERBS_MOST = 32 };

int command_unknown_verb(const struct command *c, const char *given)
{
        const char *names[VERBS_MOST], *meant;
        char all[256];
        struct text_out list;
        size_t n = 0;

        for (const struct term *t = c->verbs; t->name && n < VERBS_MOST; t++)
                names[n++] = t->name;
        text_out_init(&list, all, sizeof(all));
        text_put_alternatives(&list, names, n);
        if (!given || !*given)
                return command_usage_error(c, "expected a verb: %s", all);
        meant = nearest(given, names, n);
        if (meant)
                return command_usage_error(c, "unknown verb '%s'; did you mean '%s'?", given, meant);
        return command_usage_error(c, "unknown verb '%s'; expected %s", given, all);
}

int command_verb_usage(const struct command *c, const char *verb)
{
        const struct term *t = c->verbs;

        while (t->name && strcmp(t->name, verb) != 0)
                t++;
        return command_usage_error(c, "expected: %s %s%s%s", command_title(c), verb, t->arguments ? " " : "",
                                   t->arguments ? t->arguments : "");
}

int command_error(const struct command *c, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)fprintf(stderr, "%s: ", command_title(c));
        (void)vfprintf(stderr, format, ap);
        va_end(ap);
        (void)fputc('\n', stderr);
        return EXIT_USAGE;
}

int command_main(const struct command *c, int argc, char **argv)
{
        void *filled = calloc(1, c->size ? c->size : 1);
        int status = EXIT_USAGE;

        if (!filled)
                return command_error(c, "out of memory");
        if (c->defaults)
                memcpy(filled, c->defaults, c->size);
        switch (options_parse(c, filled, argc, argv)) {
        case OPTIONS_GO:
                status = option_endpoints ? option_endpoints->ready(c) : 0;
                status = !status && c->check ? c->check(filled) : status;
                if (status)
                        break;
                status = command_before_run ? command_before_run(c) : 0;
                if (!status)
                        status = c->run(filled);
                break;
        case OPTIONS_DONE:
                status = EXIT_OK;
                break;
        case OPTIONS_BAD:
                break;
        }
        free(filled);
        return status;
}

/* Whether the reader of standard output has left: it has seen enough. */
static bool reader_left(void)
{
        struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

        return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int command_exit(const char *program, int status)
{
        const int failed = stream_flush(stdout);

        if (!failed || reader_left() || (status != EXIT_OK && status != EXIT_FINDING))
                return status;
        (void)fprintf(stderr, "%s: cannot write to standard output: %s\n", program, strerror(-failed));
        return EXIT_USAGE;
}

void command_standard_descriptors(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
                        (void)open("/dev/null",
                                   fd == STDERR_FILENO ? O_WRONLY : O_RDONLY); /* the lowest that is free */
        }
}

static const int write_errors[] = { SIGPIPE, SIGXFSZ };
static struct sigaction before[ARRAY_SIZE(write_errors)];
static mode_t umask_before;

void command_set_up(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(write_errors); i++)
                (void)sigaction(write_errors[i], &(struct sigaction){ .sa_handler = SIG_IGN }, &before[i]);
        umask_before = umask(077);
        (void)umask(umask_before & 077);
}

void command_restore(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(write_errors); i++)
                (void)sigaction(write_errors[i], &before[i], NULL);
        (void)umask(umask_before);
}
