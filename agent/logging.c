/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/logging.h"

#include <stdatomic.h>
#include <stdio.h>

#include "agent/runtime.h"
#include "agent/symbols.h"
#include "agent/synthetic.h"
#include "agent/writer.h"

static struct {
        char version[32], classes[16];
        void (*parse_options)(struct own_options *ret);
        _Atomic char profile;        /* read by the agent's thread, while the program's changes it */
        bool forked;                 /* the log that runs is that of a forked child, from its beginning */
        bool own_read;               /* the beginning of the program's own log */
        struct error own_not_joined; /* why not */
} l;

void logging_setup(const struct logging_setup *setup)
{
        snprintf(l.version, sizeof(l.version), "%s", setup->version);
        snprintf(l.classes, sizeof(l.classes), "%s", setup->classes);
        l.profile = 0;
        l.parse_options = setup->parse_options;
        l.forked = setup->forked;
}

bool logging_runs(void)
{
        return runtime_kind.log ? runtime_logs() && writer_serves() : synthetic_runs();
}

char logging_profile(void)
{
        return l.profile;
}

const char *logging_classes(void)
{
        return l.classes;
}

const char *logging_refuses_profile(void)
{
        struct own_options program;

        l.parse_options(&program);
        return options_refuse_profile(&program);
}

void logging_prepare(void)
{
        l.own_read = false;
        error_set(&l.own_not_joined, "the program has just begun an eventlog itself");
        if (!runtime_kind.log || !runtime_logs() || writer_serves())
                return;
        l.own_read = runtime_logs_to_file() ? own_log_read(&l.own_not_joined)
                                            : error_set(&l.own_not_joined,
                                                        "the program writes an eventlog itself, by "
                                                        "a writer of its own");
}

static bool join_started_log(struct error *error)
{
        if (!l.own_read)
                return error_set(error, "%s", l.own_not_joined.text);
        own_log_begin(); /* what is written without a capability may come at once */
        if (writer_join(&rts.FileEventLogWriter))
                return true;
        writer_leave();
        return error_set(error, "the eventlog that the program writes itself cannot be joined");
}

/* Before 9.2, a log that was started late or in a forked child lacks what is known of the process. */
static void introduce_process(void)
{
        if (runtime_kind.log && !runtime_kind.recent)
                synthetic_introduce(l.version, runtime_kind.threaded, runtime_elapsed_ns());
}

bool logging_start(struct error *error)
{
        if (logging_runs()) {
                if (l.forked)
                        introduce_process();
                l.forked = false;
                return true;
        }
        if (runtime_kind.log && runtime_logs() && writer_is_in_use(&rts.event_log_writer) && !writer_tees()) {
                writer_mute(true); /* the log of a child that was not served: its header was not kept */
                runtime_stop_log();
                writer_mute(false);
        }
        if (!runtime_kind.log)
                synthetic_begin(l.version, runtime_kind.threaded, runtime_elapsed_ns());
        else if (runtime_logs())
                return join_started_log(error);
        else if (!runtime_start_log(l.classes, error))
                return false;
        else
                introduce_process();
        return true;
}

bool logging_stop(struct error *error)
{
        if (writer_joined()) {
                logging_stop_profile();
                writer_leave();
                return true;
        }
        if (writer_tees())
                return error_set(error, "the program asked for this log, too: it cannot be stopped");
        logging_stop_profile();
        if (runtime_kind.log)
                runtime_stop_log();
        else
                synthetic_end(false);
        return true;
}

bool logging_set_classes(const char *classes, struct error *error)
{
        if (!runtime_kind.log || !logging_runs())
                return error_set(error, "this runtime has no event classes, or no log runs");
        runtime_set_classes(classes);
        snprintf(l.classes, sizeof(l.classes), "%s", classes);
        return true;
}

bool logging_start_profile(char letter, struct error *error)
{
        if (!runtime_kind.log && letter != 'T')
                return error_set(error, "without the runtime's eventlog there are bands by closure type only");
        if (!runtime_start_profile(letter, error))
                return false;
        if (!runtime_kind.log) { /* then the runtime writes its profile as text: into a stream of ours */
                FILE *text = synthetic_profile(), **file = rts.hp_file.address;
                if (text && *file)
                        (void)fclose(*file); /* /dev/null, profile_file.c */
                *file = text ? text : *file;
        }
        l.profile = letter;
        return true;
}

void logging_stop_profile(void)
{
        if (l.profile)
                runtime_stop_profile();
        l.profile = 0;
}

void logging_flush(void)
{
        if (runtime_kind.log)
                runtime_flush();
        else
                synthetic_flush();
}
