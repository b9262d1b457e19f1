/* SPDX-License-Identifier: BSD-3-Clause */
/* detail_json.c - for which targets a browser wants details. */
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/answers/api/state_json.h"
#include "proto/base/digits.h"

/* libevent 2.1 drops all parameters where one has no "=". */
bool query_parameters(const char *query, struct evkeyvalq *ret)
{
        char *text = malloc(2 * strlen(query ? query : "") + 1), *end = text;

        for (const char *at = query; text && at && *at;) {
                const size_t n = strcspn(at, "&");

                end = mempcpy(end, at, n);
                if (n > 0 && !memchr(at, '=', n))
                        *end++ = '=';
                at += n;
                if (*at)
                        *end++ = *at++;
        }
        if (text)
                *end = '\0';
        const bool good = text && evhttp_parse_query_str(text, ret) == 0;
        free(text);
        return good;
}

bool detail_add(struct detail *list, const char *text)
{
        const char *colon = strchr(text, ':');
        const char *name = colon ? colon + 1 : text;
        uint64_t daemon = 0;

        if (list->n == DETAIL_MAX || !hw_target_name_valid(name))
                return false;
        if (colon && (!digits_read(&text, &daemon) || text != colon || daemon >= WORLD_DAEMONS))
                return false;
        list->targets[list->n].any_daemon = !colon;
        list->targets[list->n].daemon = daemon;
        (void)snprintf(list->targets[list->n].name, sizeof(list->targets[0].name), "%s", name);
        list->n++;
        return true;
}

/* Who watches a thousand targets needs their states, newest figures and alerts. */
static bool is_of_details(Hw__Kind kind)
{
        return kind != HW__KIND__KIND_DAEMON && kind != HW__KIND__KIND_TARGET && kind != HW__KIND__KIND_ALERT;
}

bool detail_wants(const struct detail *d, const struct world *world, size_t daemon, const char *target, Hw__Kind kind)
{
        if (d->series_trends && kind == HW__KIND__KIND_TREND)
                return false;
        if (d->all || !is_of_details(kind))
                return true;
        for (size_t i = 0; target && i < d->n; i++) {
                const struct world_target *first;

                if (strcmp(d->targets[i].name, target))
                        continue;
                if (!d->targets[i].any_daemon && d->targets[i].daemon == daemon)
                        return true;
                first = d->targets[i].any_daemon ? world_find(world, target) : NULL;
                if (first && first->daemon == daemon)
                        return true;
        }
        return false;
}

const struct world_target *detail_find(const struct detail *d, size_t i, const struct world *world)
{
        return d->targets[i].any_daemon ? world_find(world, d->targets[i].name)
                                        : world_find_of(world, d->targets[i].daemon, d->targets[i].name);
}

void detail_focus(const struct detail *d, struct world *world)
{
        for (size_t i = 0; i < d->n; i++) {
                const struct world_target *t = detail_find(d, i, world);

                if (t)
                        (void)world_focus(world, t);
        }
}

bool detail_parse(struct detail *ret, const char *query)
{
        struct evkeyvalq parameters;
        bool good = true;

        *ret = (struct detail){ .all = true };
        if (!query_parameters(query, &parameters))
                return false;
        for (const struct evkeyval *kv = parameters.tqh_first; kv; kv = kv->next.tqe_next) {
                if (!strcmp(kv->key, "trends"))
                        ret->series_trends = !strcmp(kv->value, "series");
                if (strcmp(kv->key, "detail"))
                        continue;
                ret->all = false;
                good = good && (!kv->value[0] || detail_add(ret, kv->value));
        }
        evhttp_clear_headers(&parameters);
        return good;
}
