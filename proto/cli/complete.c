/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/cli/complete.h"
#include "proto/base/array.h"

#include <string.h>

void complete_offer(const struct complete_place *p, const char *candidate, const char *text)
{
        if (strncmp(candidate, p->word, strlen(p->word)))
                return;
        (void)fprintf(p->to, "%.*s%s", (int)p->n_prefix, p->prefix, candidate);
        if (text)
                (void)fprintf(p->to, "\t%.*s", (int)strcspn(text, "\n"), text);
        (void)fputc('\n', p->to);
}

static void offer_values(struct complete_place *p, const struct option *o, complete_source *source)
{
        const char *comma = o->type == OPTION_IS_WORDS || o->type == OPTION_IS_CALLBACK ? strrchr(p->word, ',') : NULL;

        if (comma) {
                p->n_prefix += (size_t)(comma + 1 - p->word);
                p->word = comma + 1;
        }
        for (size_t i = 0; option_word(o, i); i++)
                complete_offer(p, option_word(o, i), NULL);
        p->what = o->complete;
        if (source)
                source(p);
        if (o->complete == COMPLETE_FILE || o->complete == COMPLETE_TARGET_OR_FILE || o->complete == COMPLETE_PROGRAM)
                (void)fputs(":files\n", p->to);
}

static void offer_options(const struct complete_place *p)
{
        char word[64], text[OPTION_TEXT_ROOM];

        for (const struct option *o = p->command->options; o && o->type != OPTION_IS_END; o++) {
                if (!o->name || !o->text)
                        continue;
                (void)snprintf(word, sizeof(word), "--%s", o->name);
                complete_offer(p, word, option_text(o, text));
        }
        complete_offer(p, "--help", "what it does, its options, examples");
        if (!p->command->name)
                complete_offer(p, "--version", "its version");
}

/* Whether the next word is the value of the option in this one. */
static const struct option *awaits_value(const struct command *c, const char *word)
{
        const struct option *o;

        if (word[0] != '-' || !word[1])
                return NULL;
        if (word[1] == '-')
                o = strchr(word, '=') ? NULL : option_find(c, word + 2, strlen(word + 2));
        else
                o = word[2] ? NULL : option_find_letter(c, word[1]);
        return o && o->argument ? o : NULL;
}

static void offer_operand(struct complete_place *p, complete_source *source)
{
        const struct option *o = option_operand(p->command, p->n_operands);

        if (p->n_operands == 0 && p->command->verbs)
                for (const struct term *t = p->command->verbs; t->name; t++)
                        complete_offer(p, t->name, t->text);
        else if (o)
                offer_values(p, o, source);
}

void complete_words(FILE *to, const struct command *c, int n, char **words, complete_source *source)
{
        struct complete_place p = { .command = c, .to = to, .word = n > 0 ? words[n - 1] : "" };
        const struct option *pending = NULL, *o;
        bool ended = false;

        for (int i = 0; i + 1 < n; i++) {
                bool dashed = !ended && words[i][0] == '-' && words[i][1] && !pending;

                ended = ended || (dashed && !strcmp(words[i], "--"));
                if (!pending && !dashed && p.n_operands < ARRAY_SIZE(p.operands))
                        p.operands[p.n_operands++] = words[i];
                pending = dashed ? awaits_value(c, words[i]) : NULL;
        }
        p.prefix = p.word;
        if (pending) {
                offer_values(&p, pending, source);
        } else if (!ended && !strncmp(p.word, "--", 2) && strchr(p.word, '=')) {
                o = option_find(c, p.word + 2, strcspn(p.word + 2, "="));
                p.word = strchr(p.word, '=') + 1;
                p.n_prefix = (size_t)(p.word - p.prefix);
                if (o && o->argument)
                        offer_values(&p, o, source);
        } else if (!ended && p.word[0] == '-') {
                offer_options(&p);
        } else {
                offer_operand(&p, source);
        }
}
