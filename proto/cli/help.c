/* SPDX-License-Identifier: BSD-3-Clause */
/* help.c - DESIGN: texts are sentences without line ends of their own; the layout is made here, once. */
#include "proto/cli/command.h"

#include <string.h>

#include "proto/cli/options.h"

enum { WIDTH = 80, COLUMN_MAX = 26, LABEL_MAX = 256 };

/* -------------------------------------------------------------------- text */

/* Words wrapped to 80 columns, each line indented by `indent` blanks; the first one begins at column `at`. */
static void help_wrap(FILE *to, const char *text, size_t indent, size_t at)
{
        bool first = true;

        while (*text) {
                size_t n = strcspn(text, " \n");

                if (!first && at + 1 + n > WIDTH) {
                        (void)fprintf(to, "\n%*s", (int)indent, "");
                        at = indent;
                } else if (!first) {
                        (void)fputc(' ', to);
                        at++;
                }
                (void)fwrite(text, 1, n, to);
                at += n;
                text += n;
                first = *text == '\n';
                for (; *text == '\n'; text++)
                        (void)fputc('\n', to);
                if (first) {
                        (void)fprintf(to, "%*s", *text ? (int)indent : 0, "");
                        at = indent;
                }
                text += *text == ' ';
        }
        (void)fputc('\n', to);
}

void help_print_term(FILE *to, const char *word, size_t column, const char *text)
{
        size_t n = strlen(word) + 2;

        (void)fprintf(to, "  %s", word);
        if (n + 2 > column)
                (void)fprintf(to, "\n%*s", (int)column, "");
        else
                (void)fprintf(to, "%*s", (int)(column - n), "");
        help_wrap(to, text, column, column);
}

static char *term_label(char *out, const struct term *t)
{
        (void)snprintf(out, LABEL_MAX, "%s%s%s", t->name, t->arguments ? " " : "", t->arguments ? t->arguments : "");
        return out;
}

static char *option_label(char *out, const struct option *o, bool letters)
{
        const char *argument = o->argument ? o->argument : "";

        if (!o->name)
                (void)snprintf(out, LABEL_MAX, "%s", argument);
        else if (o->letter)
                (void)snprintf(out, LABEL_MAX, "-%c, --%s%s%s", o->letter, o->name, *argument ? " " : "", argument);
        else
                (void)snprintf(out, LABEL_MAX, "%s--%s%s%s", letters ? "    " : "", o->name, *argument ? " " : "",
                               argument);
        return out;
}

static bool is_listed(const struct option *o, bool operands)
{
        return o->text && (operands ? !o->name : o->name != NULL);
}

/* Where the meanings begin: after the longest label that leaves room for them. */
static size_t fit_column(size_t column, const char *label)
{
        size_t wanted = strlen(label) + 4;

        return wanted > column && wanted <= COLUMN_MAX ? wanted : column;
}

static void print_options(FILE *to, const struct command *c)
{
        bool letters = false;
        char label[LABEL_MAX], text[OPTION_TEXT_ROOM];
        size_t column = strlen("  --version  ");

        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++)
                letters = letters || (o->name && o->text && o->letter);
        for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++)
                if (o->text)
                        column = fit_column(column, option_label(label, o, letters));
        for (int operands = 1; operands >= 0; operands--) {
                bool any = false;
                for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++) {
                        if (!is_listed(o, operands))
                                continue;
                        if (!any)
                                (void)fputc('\n', to);
                        any = true;
                        help_print_term(to, option_label(label, o, letters), column, option_text(o, text));
                }
        }
}

void help_print(FILE *to, const struct command *c)
{
        (void)fprintf(to, "usage: %s%s%s\n", command_title(c), c->usage[0][0] ? " " : "", c->usage[0]);
        for (size_t i = 1; c->usage[i]; i++)
                (void)fprintf(to, "       %s %s\n", command_title(c), c->usage[i]);
        (void)fputc('\n', to);
        help_wrap(to, c->about ? c->about : c->summary, 0, 0);
        for (const struct help_section *s = c->sections; s && s->terms; s++) {
                char label[LABEL_MAX];
                size_t column = 0;

                for (const struct term *t = s->terms; t->name; t++)
                        column = fit_column(column, term_label(label, t));
                (void)fprintf(to, "\n%s:\n", s->title);
                for (const struct term *t = s->terms; t->name; t++)
                        help_print_term(to, term_label(label, t), column ? column : COLUMN_MAX, t->text);
        }
        print_options(to, c);
        if (c->notes) {
                (void)fputc('\n', to);
                help_wrap(to, c->notes, 0, 0);
        }
        if (c->status) {
                (void)fputs("\nExit status: ", to);
                help_wrap(to, c->status, 0, strlen("Exit status: "));
        }
        if (c->examples)
                (void)fprintf(to, "\nExample%s:\n", c->examples[1] ? "s" : "");
        for (size_t i = 0; c->examples && c->examples[i]; i++)
                (void)fprintf(to, "  %s\n", c->examples[i]);
}

/* -------------------------------------------------------------------- mdoc */

/* Text where no request and no escape may begin. */
static void man_text(FILE *to, const char *text)
{
        bool line_begin = true;

        for (; *text; text++) {
                if (line_begin && (*text == '.' || *text == '\''))
                        (void)fputs("\\&", to);
                if (*text == '\\')
                        (void)fputs("\\e", to);
                else if (*text == '\n' && text[1] == '\n')
                        (void)fputs("\n.Pp", to);
                else
                        (void)fputc(*text, to);
                line_begin = *text == '\n';
        }
        (void)fputc('\n', to);
}

/* An argument of a request: blanks and what looks like a macro are kept from being read as such. */
static void man_word(FILE *to, const char *text)
{
        (void)fputs(" \"", to);
        for (; *text; text++)
                (void)fputs(*text == '"' ? "\"\"" : *text == '\\' ? "\\e" : (char[]){ *text, '\0' }, to);
        (void)fputc('"', to);
}

static void man_option(FILE *to, const struct option *o)
{
        char text[OPTION_TEXT_ROOM];

        (void)fputs(".It", to);
        if (o->name && o->letter)
                (void)fprintf(to, " Fl %c ,", o->letter);
        if (o->name)
                (void)fprintf(to, " Fl -%s", o->name);
        if (o->argument) {
                (void)fputs(" Ar", to);
                man_word(to, o->argument);
        }
        (void)fputc('\n', to);
        man_text(to, option_text(o, text));
}

void help_print_man(FILE *to, const struct command *c)
{
        if (c->name)
                (void)fprintf(to, ".Ss %s\n", c->name);
        for (size_t i = 0; c->name && c->usage[i]; i++)
                (void)fprintf(to, ".Dl %s %s\n", command_title(c), c->usage[i]);
        if (c->name)
                (void)fputs(".Pp\n", to);
        man_text(to, c->about ? c->about : c->summary);
        for (const struct help_section *s = c->sections; s && s->terms; s++) {
                (void)fprintf(to, ".Pp\n%s:\n.Bl -tag -width Ds -compact\n", s->title);
                for (const struct term *t = s->terms; t->name; t++) {
                        (void)fputs(".It Cm", to);
                        man_word(to, t->name);
                        if (t->arguments) {
                                (void)fputs(" Ar", to);
                                man_word(to, t->arguments);
                        }
                        (void)fputc('\n', to);
                        man_text(to, t->text);
                }
                (void)fputs(".El\n", to);
        }
        bool any = false;
        for (int operands = 1; operands >= 0; operands--) {
                for (const struct option *o = c->options; o && o->type != OPTION_IS_END; o++) {
                        if (!is_listed(o, operands))
                                continue;
                        (void)fputs(any ? "" : ".Bl -tag -width Ds\n", to);
                        any = true;
                        man_option(to, o);
                }
        }
        (void)fputs(any ? ".El\n" : "", to);
        if (c->notes) {
                (void)fputs(".Pp\n", to);
                man_text(to, c->notes);
        }
        if (c->status) {
                (void)fputs(".Pp\nExit status: ", to);
                man_text(to, c->status);
        }
}
