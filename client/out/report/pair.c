/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - DESIGN: logs are read in their order, so the first target that is named is of the first log. */
#include "client/out/report/compose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/diff/print.h"

struct pair {
        struct side sides[2];
        struct side_reader *readers[2];
        char *targets[2]; /* NULL: nothing of it was read yet */
};

struct pair *pair_new(const char *baseline, const char *new_log)
{
        struct pair *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->readers[0] = side_reader_new(&p->sides[0], baseline);
        p->readers[1] = side_reader_new(&p->sides[1], new_log);
        if (!p->readers[0] || !p->readers[1])
                pair_destroy(&p);
        return p;
}

void pair_destroy(struct pair **ref)
{
        struct pair *p = *ref;

        *ref = NULL;
        if (!p)
                return;
        for (int i = 0; i < 2; i++) {
                (void)side_reader_end(&p->readers[i]);
                side_done(&p->sides[i]);
                free(p->targets[i]);
        }
        free(p);
}

int pair_add(struct pair *p, const Hw__Update *u)
{
        for (int i = 0; u->target && i < 2; i++) {
                if (!p->targets[i] && !(p->targets[i] = strdup(u->target)))
                        return -ENOMEM;
                if (!strcmp(p->targets[i], u->target))
                        return side_reader_add(p->readers[i], u);
        }
        return 0;
}

int pair_end(struct pair *p)
{
        int first = side_reader_end(&p->readers[0]), second = side_reader_end(&p->readers[1]);

        return first ? first : second;
}

bool pair_put(const struct pair *p, struct json_out *j)
{
        return p->sides[0].n > 0 && p->sides[1].n > 0 && compare_json(j, &p->sides[0], &p->sides[1]);
}
