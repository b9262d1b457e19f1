/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/state/thread_groups.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "proto/base/text_out.h"

#define TEXT 320

static uint64_t number_of(const json_t *object, const char *key)
{
        const json_int_t n = json_integer_value(json_object_get(object, key));

        return n > 0 ? (uint64_t)n : 0;
}

static const char *text_of(const json_t *object, const char *key)
{
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : "";
}

/* What Haskell has called, of a thread that is in C; "": none, or not known. */
static const char *called_of(const json_t *group)
{
        const json_t *frames = json_object_get(group, "c_frames");
        const size_t n = json_array_size(frames);

        return n && number_of(group, "c_stack_frames") == n && json_is_true(json_object_get(group, "c_stack_whole"))
                       ? text_of(json_array_get(frames, n - 1), "name")
                       : "";
}

/* The innermost frame that is none of the runtime's; else the innermost. */
static char *place_of(const json_t *group)
{
        const json_t *frames = json_object_get(group, "frames"), *frame = json_array_get(frames, 0);
        const char *called = called_of(group);
        const char *source;
        char text[TEXT];

        for (size_t i = 0; i < json_array_size(frames); i++)
                if (strncmp(package_label(text_of(json_array_get(frames, i), "name")).rest, "stg_", 4) != 0) {
                        frame = json_array_get(frames, i);
                        break;
                }
        source = text_of(frame, "source");
        (void)text_join(text, sizeof(text), package_label(text_of(frame, "name")).rest,
                        strcmp(text_of(frame, "by"), "module") == 0 ? " (a local function)" : "", source[0] ? " (" : "",
                        source, source[0] ? ")" : "", called[0] ? ", in C: " : "", called, NULL);
        return strdup(text);
}

static char *state_of(const json_t *group)
{
        const json_t *same = json_object_get(group, "same_cause");
        char text[TEXT];

        (void)text_join(text, sizeof(text), text_of(group, "state_text"),
                        json_is_true(same)    ? ", all on the same one"
                        : json_is_false(same) ? ", on different ones"
                                              : "",
                        NULL);
        return strdup(text);
}

static bool read_group(struct thread_group *ret, const json_t *group)
{
        *ret = (struct thread_group){
                .threads = number_of(group, "threads"),
                .most_stack_bytes = number_of(group, "most_stack_bytes"),
                .allocated_bytes = number_of(group, "allocated_bytes"),
                .has_allocated = json_is_integer(json_object_get(group, "allocated_bytes")),
                .state = state_of(group),
                .place = place_of(group),
        };
        return ret->state && ret->place;
}

static bool read_sentences(struct thread_groups *ret, const json_t *sentences)
{
        for (size_t i = 0; i < json_array_size(sentences) && i < THREAD_GROUPS_SENTENCES; i++) {
                const char *text = json_string_value(json_array_get(sentences, i));
                if (text && !(ret->sentences[ret->n_sentences++] = strdup(text)))
                        return false;
        }
        return true;
}

bool thread_groups_read(struct thread_groups *ret, const char *json, struct error *error)
{
        json_error_t why;
        json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &why);
        const json_t *groups = json_object_get(root, "groups");
        const size_t n = json_array_size(groups) < THREAD_GROUPS_MOST ? json_array_size(groups) : THREAD_GROUPS_MOST;
        bool good = json_is_array(groups);

        *ret = (struct thread_groups){ .n = 0 };
        if (!good) {
                (void)error_set(error, "what the inspection printed is damaged: it has no groups of threads");
        } else {
                (void)error_set(error, "out of memory");
                good = read_sentences(ret, json_object_get(root, "sentences")) &&
                       (ret->items = calloc(n + 1, sizeof(*ret->items)));
                for (; good && ret->n < n; ret->n++)
                        good = read_group(&ret->items[ret->n], json_array_get(groups, ret->n));
        }
        json_decref(root);
        return good;
}

void thread_groups_done(struct thread_groups *g)
{
        for (size_t i = 0; i < g->n; i++) {
                free(g->items[i].state);
                free(g->items[i].place);
        }
        for (size_t i = 0; i < g->n_sentences; i++)
                free(g->sentences[i]);
        free(g->items);
        *g = (struct thread_groups){ .n = 0 };
}
