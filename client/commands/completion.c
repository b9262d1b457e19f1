/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c - DESIGN: the shells' scripts know nothing; what can follow is
 * decided here, from the same tables that parse. So a script remains correct
 * when the programs change.
 */
#include "client/cli/command.h"

#include <string.h>

#include "client/cli/options.h"
#include "heapwatch/requester.h"
#include "heapwatch/wire.h"

#define WAIT_MS 300 /* somebody has pressed a key and waits */

/* ----------------------------------------------------------------- scripts */

/* COMP_WORDS is also split at = and :; the words are joined again, and what readline keeps is removed. */
static const char bash[] =
        "_heapwatch() {\n"
        "        local program=$1 words=() joined=0 word line cur\n"
        "        COMPREPLY=()\n"
        "        for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
        "                if [ ${#words[@]} -gt 0 ] && { [ $joined = 1 ] || [[ $word == [=:] ]]; }; then\n"
        "                        words[${#words[@]}-1]+=$word\n"
        "                else\n"
        "                        words+=(\"$word\")\n"
        "                fi\n"
        "                [[ $word == [=:] ]] && joined=1 || joined=0\n"
        "        done\n"
        "        cur=${words[${#words[@]}-1]}\n"
        "        while IFS= read -r line; do\n"
        "                line=${line%%$'\\t'*}\n"
        "                if [ \"$line\" = :files ]; then\n"
        "                        compopt -o filenames 2>/dev/null\n"
        "                        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"${cur##*=}\")\n"
        "                else\n"
        "                        COMPREPLY+=(\"${line#\"${cur%\"${cur##*[=:]}\"}\"}\")\n"
        "                fi\n"
        "        done < <(\"$program\" --complete \"${words[@]}\" 2>/dev/null)\n"
        "}\n"
        "complete -F _heapwatch heapwatch heapwatchd\n";

static const char zsh[] =
        "#compdef heapwatch heapwatchd\n"
        "_heapwatch() {\n"
        "        local line files=0\n"
        "        local -a values\n"
        "        while IFS= read -r line; do\n"
        "                if [[ $line == :files ]]; then\n"
        "                        files=1\n"
        "                else\n"
        "                        values+=(\"${${line%%$'\\t'*}//:/\\\\:}${${(M)line%%$'\\t'*}:+:${line#*$'\\t'}}\")\n"
        "                fi\n"
        "        done < <(\"${words[1]}\" --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
        "        (( ${#values} )) && _describe -V value values\n"
        "        (( files )) && _files\n"
        "}\n"
        "if [ \"$funcstack[1]\" = _heapwatch ]; then _heapwatch \"$@\"; else compdef _heapwatch heapwatch heapwatchd; "
        "fi\n";

static const char fish[] =
        "function __heapwatch\n"
        "        set -l words (commandline -opc) (commandline -ct)\n"
        "        for line in ($words[1] --complete $words[2..-1] 2>/dev/null)\n"
        "                if test \"$line\" = :files\n"
        "                        __fish_complete_path (commandline -ct)\n"
        "                else\n"
        "                        echo $line\n"
        "                end\n"
        "        end\n"
        "end\n"
        "complete -c heapwatch -f -k -a '(__heapwatch)'\n"
        "complete -c heapwatchd -f -k -a '(__heapwatch)'\n";

struct request {
        int shell;
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static int run_completion(void *filled)
{
        static const char *const scripts[] = { bash, zsh, fish };
        const struct request *r = filled;

        (void)fputs(scripts[r->shell], stdout);
        return EXIT_OK;
}

const struct command command_completion = {
        .name = "completion",
        .summary = "a script that completes commands in bash, zsh or fish",
        .usage = TEXTS("bash|zsh|fish"),
        .about = "Prints the script with which a shell completes commands, options and their values; targets, series "
                 "and rules are those of your own daemon. `make install` puts it where the shells look for it.",
        .options =
                (const struct option[]){
                        { .argument = "bash|zsh|fish",
                          .type = OPTION_IS_CHOICE,
                          .least = 1,
                          .most = 1,
                          .words = shells,
                          OPTION_AT(int, struct request, shell) },
                        OPTIONS_END,
                },
        .examples = TEXTS("eval \"$(heapwatch completion bash)\"",
                          "heapwatch completion fish > ~/.config/fish/completions/heapwatch.fish"),
        .size = sizeof(struct request),
        .run = run_completion,
        .offline = true,
};

/* ------------------------------------------------------------------ values */

/* Each name once, though several groups may have a rule of it. */
static void offer_rules(const struct complete_place *p, const Hw__Status *status)
{
        for (size_t i = 0; i < status->n_rules; i++) {
                size_t first = 0;
                while (strcmp(status->rules[first], status->rules[i]) != 0)
                        first++;
                if (first == i)
                        complete_offer(p, status->rules[i], NULL);
        }
}

/* Its updates are of several kinds for each target. */
static void offer_targets(const struct complete_place *p, const Hw__Status *status)
{
        for (size_t i = 0; i < status->n_targets; i++) {
                const Hw__Update *u = status->targets[i];
                if (u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target)
                        complete_offer(p, u->target, NULL);
        }
}

struct asked {
        const struct complete_place *p;
        void (*offer)(const struct complete_place *p, const Hw__Status *status);
};

static void on_reply(void *ctx, const Hw__Reply *reply)
{
        struct asked *a = ctx;

        if (reply->what_case == HW__REPLY__WHAT_STATUS)
                a->offer(a->p, reply->status);
}

/* On any error nothing is offered. */
static void request_status(const struct complete_place *p,
                           void (*offer)(const struct complete_place *, const Hw__Status *))
{
        Hw__Request *request = hw_request_new(HW__REQUEST__WHAT_STATUS);
        struct asked asked = { .p = p, .offer = offer };
        char publish[256], ask_at[256];

        if (request && hw_default_endpoints(publish, ask_at, sizeof(publish)) == 0)
                (void)hw_request(publish, request, WAIT_MS, on_reply, &asked);
        hw_request_destroy(&request);
}

/* What completes the n-th word after a verb of `ctl`. */
static enum complete after_verb(const char *verb, size_t n)
{
        bool silence = !strcmp(verb, "silence") || !strcmp(verb, "unsilence");

        if (!strcmp(verb, "history") && n <= 2)
                return n == 1 ? COMPLETE_TARGET : COMPLETE_SERIES;
        return silence && n <= 2 ? n == 1 ? COMPLETE_RULE : COMPLETE_TARGET : COMPLETE_NOTHING;
}

void completion_values(const struct complete_place *p)
{
        char publish[256], ask_at[256];
        enum complete what = p->what;

        if (what == COMPLETE_VERB)
                what = after_verb(p->operands[0], p->n_operands);
        switch (what) {
        case COMPLETE_TARGET:
        case COMPLETE_TARGET_OR_FILE:
                request_status(p, offer_targets);
                break;
        case COMPLETE_RULE:
                request_status(p, offer_rules);
                break;
        case COMPLETE_SERIES:
                for (size_t i = 0; options_nth_series(i); i++)
                        complete_offer(p, options_nth_series(i), NULL);
                break;
        case COMPLETE_ENDPOINT:
                if (hw_default_endpoints(publish, ask_at, sizeof(publish)) == 0)
                        complete_offer(p, publish, NULL);
                break;
        case COMPLETE_FILE:
                if (p->what == COMPLETE_VERB)
                        (void)fputs(":files\n", p->to);
                break;
        default:
                break;
        }
}
