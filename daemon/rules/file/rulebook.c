/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/rules/file/rulebook.h"

#include <stdio.h>
#include <string.h>

#include "daemon/rules/file/rule_file.h"

bool rulebook_open(struct rulebook *b, char *const *paths, size_t n, const struct error_sink *says)
{
        *b = (struct rulebook){ .paths = paths, .n = n };
        b->rules = rulebook_read(b, says);
        return b->rules != NULL;
}

void rulebook_close(struct rulebook *b)
{
        ruleset_destroy(&b->rules);
}

struct ruleset *rulebook_read(const struct rulebook *b, const struct error_sink *says)
{
        struct ruleset *rules = rules_load((const char *const *)b->paths, b->n, says);

        if (rules)
                rules->generation = b->rules ? b->rules->generation + 1 : 1;
        return rules;
}

void rulebook_change(struct rulebook *b, struct ruleset *rules)
{
        ruleset_destroy(&b->rules);
        b->rules = rules;
}

static void gather(void *ctx, const char *line)
{
        struct diagnostics *c = ctx;
        size_t n = strlen(line);

        if (n + 2 > sizeof(c->text) - c->used)
                return;
        if (c->used)
                c->text[c->used++] = '\n';
        memcpy(c->text + c->used, line, n + 1);
        c->used += n;
}

struct error_sink diagnostics_gather(struct diagnostics *c)
{
        c->text[0] = '\0';
        c->used = 0;
        return (struct error_sink){ .say = gather, .ctx = c };
}

static void to_stderr(void *ctx, const char *line)
{
        (void)ctx;
        fprintf(stderr, "heapwatchd: %s\n", line);
}

const struct error_sink diagnostics_to_stderr = { .say = to_stderr };
