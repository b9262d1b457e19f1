/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - first look at what the user already gives in the three places that
 * the RTS reads, then add as little as possible:
 *
 *      -l            unless the user chose classes
 *      -ol<path>     always; a user's own -ol is refused, since the log
 *                    would then never come here, as is --null-eventlog-writer
 *      -hT -i1       unless the user chose a heap profile; left out if the
 *                    program does not accept it (-rtsopts=some accepts -l
 *                    and -ol), or its collector refuses it
 *
 * Never --eventlog-flush-interval: it can hang a program at exit, and on the
 * non-threaded RTS it damages the log (GHC issues 26573, 26222), so only the
 * user may choose it.
 *
 * A flag is added only after the program's own parser accepted it, so there is
 * no table of versions that could be wrong.
 */
#include "client/run/flags.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/options.h"
#include "proto/base/rts_options.h"

#define FLUSH_FLAG "--eventlog-flush-interval"

/* What the program's own flags, linked in or the user's, already decide. */
struct said {
        struct own_options own;
        bool path, period, flush;
};

static bool starts(const char *word, size_t n, const char *prefix)
{
        size_t m = strlen(prefix);

        return n >= m && !memcmp(word, prefix, m);
}

static void parse_word(struct said *s, const char *word, size_t n)
{
        options_of_word(&s->own, word, n);
        s->path |= starts(word, n, "-ol");
        s->period |= starts(word, n, "-i");
        s->flush |= starts(word, n, FLUSH_FLAG);
}

static void parse_words(struct said *s, const char *text)
{
        for (;;) {
                while (isspace((unsigned char)*text))
                        text++;
                if (*text == '\0')
                        return;
                const char *word = text;
                while (*text != '\0' && !isspace((unsigned char)*text))
                        text++;
                parse_word(s, word, (size_t)(text - word));
        }
}

static void parse_arguments(struct said *s, char *const *arguments)
{
        struct rts_options state = { .inside = false };

        for (; *arguments != NULL; arguments++)
                if (rts_argument(&state, *arguments, strlen(*arguments)) == RTS_OPTION)
                        parse_word(s, *arguments, strlen(*arguments));
}

/* Appends a word to *flags, which is replaced. False when out of memory; *flags is then unchanged. */
static bool append(char **flags, const char *words)
{
        char *longer = NULL;

        if (words[0] == '\0')
                return true;
        if (asprintf(&longer, "%s%s%s", *flags, (*flags)[0] != '\0' ? " " : "", words) < 0)
                return false;
        free(*flags);
        *flags = longer;
        return true;
}

static bool accepts(const struct flags_request *r, struct flags *f, const char *words)
{
        return r->accepts(r->ctx, words, f->reason, sizeof(f->reason));
}

static enum flags_result add_log(const struct flags_request *r, const struct said *user, struct flags *f)
{
        char *words = NULL;
        enum flags_result result = FLAGS_OK;

        if (asprintf(&words, "%s-ol%s", user->own.log ? "" : "-l ", r->log_path) < 0)
                return FLAGS_NO_MEMORY;
        if (!accepts(r, f, words))
                result = FLAGS_REFUSED;
        else if (!append(&f->ghcrts, words))
                result = FLAGS_NO_MEMORY;
        free(words);
        return result;
}

static enum flags_result add_profile(const struct flags_request *r, const struct said *user, struct flags *f)
{
        const char *kind = r->heap_profile;
        char words[64];

        f->bands = user->own.heap_profile;
        if (kind == NULL && user->own.heap_profile)
                return FLAGS_OK;
        if (kind != NULL && !strcmp(kind, "none"))
                return FLAGS_OK;
        if (user->own.no_census) { /* the parser accepts both; the runtime then aborts */
                (void)snprintf(f->reason, sizeof(f->reason), "%s", OPTIONS_NO_CENSUS);
                return kind != NULL ? FLAGS_REFUSED : FLAGS_OK;
        }
        if ((size_t)snprintf(words, sizeof(words), "-h%s%s", kind != NULL ? kind : "T", user->period ? "" : " -i1") >=
            sizeof(words))
                return FLAGS_REFUSED;
        if (!accepts(r, f, words))
                return kind != NULL ? FLAGS_REFUSED : FLAGS_OK;
        f->bands = true;
        return append(&f->ghcrts, words) ? FLAGS_OK : FLAGS_NO_MEMORY;
}

static enum flags_result compose(const struct flags_request *r, struct flags *f)
{
        struct said said = { .path = false }, own = said; /* own: without --rts */
        enum flags_result result;

        if (!r->info->eventlog)
                return FLAGS_NO_EVENTLOG;
        if (strpbrk(r->log_path, " \t\n\r\v\f") != NULL)
                return FLAGS_BAD_PATH;
        parse_words(&said, r->info->with_rtsopts);
        said.path = false; /* ours overrides a path that was linked in */
        parse_words(&said, r->ghcrts);
        parse_arguments(&own, r->arguments);
        own.own.heap_profile |= said.own.heap_profile;
        parse_words(&said, r->extra);
        parse_arguments(&said, r->arguments);
        if (said.path || said.own.no_log)
                return FLAGS_ELSEWHERE;
        if ((f->ghcrts = strdup("")) == NULL)
                return FLAGS_NO_MEMORY;
        if ((result = add_log(r, &said, f)) != FLAGS_OK || (result = add_profile(r, &said, f)) != FLAGS_OK)
                return result;
        f->flush = said.flush;
        f->bands_ours = f->bands && !own.own.heap_profile;
        return append(&f->ghcrts, r->ghcrts) && append(&f->ghcrts, r->extra) ? FLAGS_OK : FLAGS_NO_MEMORY;
}

enum flags_result flags_compose(const struct flags_request *request, struct flags *ret_flags)
{
        struct flags f = { .ghcrts = NULL };
        enum flags_result result = compose(request, &f);

        if (result != FLAGS_OK) {
                free(f.ghcrts);
                f.ghcrts = NULL;
        }
        *ret_flags = f;
        return result;
}

void flags_done(struct flags *flags)
{
        free(flags->ghcrts);
        flags->ghcrts = NULL;
}
