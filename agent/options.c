/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/settings.h"

#include <string.h>

static bool starts(const char *word, size_t n, const char *prefix)
{
        size_t m = strlen(prefix);

        return n >= m && !memcmp(word, prefix, m);
}

static bool is(const char *word, size_t n, const char *whole)
{
        return n == strlen(whole) && starts(word, n, whole);
}

static void read_word(struct own_options *o, const char *word, size_t n)
{
        if (starts(word, n, "-l"))
                o->log = true;
        else if (is(word, n, "--null-eventlog-writer"))
                o->no_log = true;
        else if (starts(word, n, "-h"))
                o->heap_profile = true;
        else if (starts(word, n, "-p") || starts(word, n, "-P"))
                o->cost_profile = true;
        else
                rts_collector_option(&o->collector, word, n);
}

void options_of_words(struct own_options *o, const char *words)
{
        static const char space[] = " \t\n\v\f\r";

        while (words && *(words += strspn(words, space)) != '\0') {
                size_t n = strcspn(words, space);
                read_word(o, words, n);
                words += n;
        }
}

void options_of_arguments(struct own_options *o, const char *arguments, size_t size)
{
        struct rts_options state = { .inside = false };

        for (size_t at = strnlen(arguments, size) + 1; at < size;) { /* after its name */
                const char *a = arguments + at;
                size_t n = strnlen(a, size - at);

                if (rts_argument(&state, a, n) == RTS_OPTION)
                        read_word(o, a, n);
                at += n + 1;
        }
}

const char *options_refuse_profile(const struct own_options *o)
{
        if (o->heap_profile)
                return "the program makes its own heap profile";
        if (o->collector.mark_region)
                return "the program's collector refuses heap profiles (-w)";
        if (o->collector.nonmoving) /* the latter could hang, docs/AGENT.md */
                return "the program's collector refuses heap profiles (--nonmoving-gc, -xn: before GHC 9.8.3 all, "
                       "later those that are begun while it runs)";
        if (o->cost_profile)
                return "the program makes a time profile, which would be written to another place";
        return NULL;
}
