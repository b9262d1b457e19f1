/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.c - the agent's beginning and end.
 *
 * DESIGN - three ways in: preloaded or linked, the constructor runs before
 * main and puts our hooks into defaultRtsConfig, from which every program makes
 * its configuration; attached, heapwatch_agent_attach is called in a running
 * process, and puts them into the configuration in use. Everything is found and
 * understood before anything is changed; where something is not as expected, the
 * program is left alone.
 *
 * The hooks: defaultsHook runs before the program's runtime options are read,
 * and has the runtime's own parser read ours first, with all rights, so that
 * the program's win; onExitHook before the runtime's end; gcDoneHook, where the
 * runtime has no log or no threads, after each collection. The program's own hooks
 * are called first.
 *
 * A child of fork(2) is left alone from its first instruction, until the runtime
 * shows that it goes on there (forkProcess): by beginning its log anew or, where it
 * has none, by a collection. A program that is run by this one does not get the agent: the environment is cleaned here,
 * before main, unless this process has no GHC runtime (a shell, a wrapper): then
 * the agent is meant for one of its children.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/descriptor.h"
#include "agent/layout.h"
#include "agent/pace.h"
#include "agent/patch.h"
#include "agent/queue.h"
#include "agent/runtime.h"
#include "agent/server.h"
#include "agent/settings.h"
#include "agent/symbols.h"
#include "agent/synthetic.h"
#include "agent/syscall_filter.h"
#include "agent/writer.h"

#define ARGUMENTS_MAX 65536

/* Only before a program is started can its own parser say which options it accepts; here a wrong one would end it. */
#define UNWRAPPED " (`heapwatch run PROGRAM`, without a wrapper around it, tries the options of its runtime)"

static struct {
        struct pace_setup setup;
        void (*defaults)(void);
        void (*on_exit)(void);
        void (*gc_done)(const void *);
        bool asked;          /* requested by name: errors are reported */
        bool prepared;       /* as far as it is done once */
        bool on;             /* hooks are in */
        bool begun;          /* threads run */
        _Atomic bool ending; /* onExitHook was called, and none of our threads is in the runtime any more */
        _Atomic bool child;  /* of a fork, and not served */
        bool served;         /* the parent was, when it forked */
        bool declined;       /* this child cannot be */
        char own_words[300]; /* of options: the runtime keeps the pointer */
} a;

/* ------------------------------------------------------- the program's options */

/* What -with-rtsopts has is in rtsConfig only after the defaultsHook. */
static void parse_own_options(struct own_options *o)
{
        char *arguments = malloc(ARGUMENTS_MAX + 1);

        *o = (struct own_options){ 0 };
        if (rts.rtsConfig.address && rts.rtsConfig.size == sizeof(struct rts_config))
                options_of_words(o, ((const struct rts_config *)rts.rtsConfig.address)->word[CONFIG_OPTIONS]);
        options_of_words(o, a.setup.settings.options);
        options_of_words(o, getenv("GHCRTS"));
        if (arguments)
                options_of_arguments(o, arguments, read_proc_file("/proc/self/cmdline", arguments, ARGUMENTS_MAX + 1));
        free(arguments);
}

/*
 * Reports an error on stderr, but only when the agent was requested by name, and the error is not empty. The program
 * does not wait for somebody to read it: where there is room, a pipe takes PIPE_BUF bytes at once.
 */
static void report_error(const char *error)
{
        struct pollfd room = { STDERR_FILENO, POLLOUT, 0 };

        if (a.asked && *error && syscall_filter_allows_poll() && poll(&room, 1, 0) > 0)
                fprintf(stderr, "heapwatch-agent: %s; the agent does not watch it\n", error);
}

/* ----------------------------------------------------------------------- hooks */

static int start_agent(void)
{
        int r = server_start();

        a.setup.parse_options = parse_own_options;
        if (r == 0)
                r = pace_start(&a.setup);
        a.begun = r == 0;
        if (!a.begun)
                queue_close(); /* nobody would take anything out of it */
        return r;
}

/* The runtime's own parser reads our options, before it reads the program's. */
static void read_own_options(void)
{
        struct rts_config config;
        char name[] = "program", *argv[] = { name, NULL };
        int argc = 1;
        uint32_t ignore = RTS_OPTIONS_IGNORE_ALL;

        memcpy(&config, rts.defaultRtsConfig.address, sizeof(config));
        snprintf(a.own_words, sizeof(a.own_words), "%s%s %s", runtime_kind.log ? "-l-a" : "",
                 runtime_kind.log ? a.setup.settings.classes : "", a.setup.settings.options);
        config.word[CONFIG_OPTIONS] = a.own_words;
        memcpy(&config.word[CONFIG_OPTIONS_ENABLED], &ignore, sizeof(ignore)); /* neither GHCRTS nor arguments here */
        ((void (*)(int *, char **, struct rts_config))(uintptr_t)rts.setupRtsFlags.address)(&argc, argv, config);
}

static void on_defaults(void)
{
        struct own_options program;

        if (a.defaults)
                a.defaults();
        if (a.child || a.begun)
                return;
        parse_own_options(&program);
        if (program.no_log) {
                report_error("its own option --null-eventlog-writer switches the eventlog off");
                server_abandon();
                return;
        }
        runtime_read_defaults();
        writer_replace_file(&rts.FileEventLogWriter);
        if (start_agent() != 0)
                return;
        if (!runtime_kind.log) {
                synthetic_begin(a.setup.version, runtime_kind.threaded, 0);
                if (a.setup.settings.options[0])
                        read_own_options();
                return;
        }
        read_own_options();
}

static void on_exit_hook(void)
{
        if (a.on_exit)
                a.on_exit();
        if (a.child)
                return;
        pace_stop();
        a.ending = true;
        if (!runtime_kind.log) {
                synthetic_end(true);
                server_finish();
        }
}

static void on_log_begin(void)
{
        struct own_options program;

        parse_own_options(&program);
        if (program.log && !a.setup.attached)
                writer_tee();
}

static void on_log_piece(void)
{
        if (a.ending && !a.child)
                runtime_hold_leaving_threads();
}

/* The runtime has ended its log: also when the process goes on, or ends by a signal that it sends to itself. */
static void on_log_end(void)
{
        if (a.ending && !a.child)
                server_finish();
}

/* -------------------------------------------------------------- a forked child */

/* Everything begins anew, for this process. */
static void leave_parent(void)
{
        a.child = false;
        a.begun = false;
        a.ending = false;
        a.setup.forked = true;
        queue_open(a.setup.settings.queue_bytes);
        writer_mute(false);
        synthetic_resume_in_child();
        pace_resume_in_child();
}

/*
 * The runtime goes on in this child (forkProcess). It is served where its socket's path can be its own: beside the
 * parent's with the setting `follow`, or the default one. Otherwise it is left alone until it is attached to.
 */
static void serve_child(void)
{
        struct error error;

        if (!a.served || a.declined || (!a.setup.settings.follow && a.setup.settings.socket[0]))
                return;
        if (!server_prepare(&a.setup.settings, &error)) {
                a.declined = true;
                return;
        }
        leave_parent();
        runtime_correct_clock_of_child();
        if (start_agent() != 0) {
                a.child = a.declined = true;
                writer_mute(true);
                server_abandon();
        } else if (!runtime_kind.log) {
                synthetic_begin(a.setup.version, runtime_kind.threaded, runtime_elapsed_ns());
        }
}

static void on_collection(const void *details)
{
        if (a.gc_done)
                a.gc_done(details);
        if (a.child && !runtime_kind.log)
                serve_child(); /* only where the runtime goes on there is a collection */
        if (!a.child)
                pace_collection(details);
}

/* Puts our hooks in, before those that are there; ours may be, from the start. */
static bool put_hooks(struct rts_config *at, bool early)
{
        struct rts_config config = *at;

        if (config.word[CONFIG_GC_DONE_HOOK] != (void *)(uintptr_t)on_collection)
                a.gc_done = (void (*)(const void *))(uintptr_t)config.word[CONFIG_GC_DONE_HOOK];
        if (config.word[CONFIG_ON_EXIT_HOOK] != (void *)(uintptr_t)on_exit_hook)
                a.on_exit = (void (*)(void))(uintptr_t)config.word[CONFIG_ON_EXIT_HOOK];
        /*
         * With it, the runtime asks for three clocks more at each collection. One that was started without -l writes
         * the end of a collection, live data and the heap's size only if it has it.
         */
        if (!runtime_kind.log || !runtime_kind.threaded || !early)
                config.word[CONFIG_GC_DONE_HOOK] = (void *)(uintptr_t)on_collection;
        config.word[CONFIG_ON_EXIT_HOOK] = (void *)(uintptr_t)on_exit_hook;
        if (early) {
                a.defaults = (void (*)(void))(uintptr_t)config.word[CONFIG_DEFAULTS_HOOK];
                config.word[CONFIG_DEFAULTS_HOOK] = (void *)(uintptr_t)on_defaults;
                if (runtime_kind.log)
                        config.word[CONFIG_WRITER] = (void *)(uintptr_t)&writer;
        }
        a.on = patch_memory(at, &config, sizeof(config));
        return a.on;
}

/* ------------------------------------------------------------------------ fork */

static void fork_prepare(void)
{
        server_fork_prepare();
        queue_fork_prepare();
}

static void fork_parent(void)
{
        queue_fork_parent();
        server_fork_parent();
}

static void fork_child(void)
{
        a.served = (a.child ? a.served : a.begun) && !a.ending;
        a.child = true;
        a.declined = false;
        if (a.on)
                runtime_fork_child();
        queue_fork_child();
        writer_mute(true);
        synthetic_fork_child();
        pace_fork_child();
        server_fork_child();
}

/* ------------------------------------------------------------------- environment */

static bool is_this_library(const char *path, size_t n, const char *name)
{
        size_t m = strlen(name);

        return n >= m && !memcmp(path + n - m, name, m) && (n == m || path[n - m - 1] == '/');
}

/* LD_PRELOAD without us, in place: the rest is never longer. */
static void leave_preload(void)
{
        char *list = getenv("LD_PRELOAD"), *out = list;
        Dl_info self;

        if (!list || !dladdr((void *)(uintptr_t)leave_preload, &self) || !self.dli_fname)
                return;
        const char *slash = strrchr(self.dli_fname, '/'), *name = slash ? slash + 1 : self.dli_fname;
        for (const char *at = list; *at != '\0';) {
                size_t n = strcspn(at, ": ");
                if (n > 0 && !is_this_library(at, n, name)) {
                        if (out != list)
                                *out++ = ':';
                        memmove(out, at, n);
                        out += n;
                }
                at += n + (at[n] != '\0');
        }
        *out = '\0';
        if (out == list)
                (void)unsetenv("LD_PRELOAD");
}

static void clean_environment(void)
{
        if (a.setup.settings.follow)
                return;
        leave_preload();
        (void)unsetenv(AGENT_VARIABLE);
}

/* ------------------------------------------------------------------------- start */

/* What was given has precedence: a stripped program may still export some. */
static bool find_symbols(void)
{
        const bool found = symbols_find(a.setup.version, sizeof(a.setup.version));

        return symbols_find_given(a.setup.settings.symbols, a.setup.version, sizeof(a.setup.version)) || found;
}

static bool find_runtime(struct error *error)
{
        if (!runtime_classify(&rts, &runtime_kind, error))
                return false;
        if (!layout_config_known(&rts))
                return error_set(error, "the configuration of this release of the runtime is not known");
        if (!runtime_kind.log && strncmp(a.setup.version, "9.0.", 4) != 0)
                return error_set(error, "this runtime has no eventlog: link the program with -eventlog");
        return true;
}

/* For a runtime that is up, or will be; what is for the whole process once. */
static bool open_server(struct error *error)
{
        if (!server_open(&a.setup.settings, error))
                return false;
        a.setup.forked = false;
        if (a.prepared)
                return true;
        queue_open(a.setup.settings.queue_bytes);
        writer_on(on_log_begin, on_log_piece, on_log_end);
        writer_on_muted(serve_child);
        (void)pthread_atfork(fork_prepare, fork_parent, fork_child);
        a.prepared = true;
        return true;
}

__attribute__((constructor)) static void agent_begin(void)
{
        const char *text = getenv(AGENT_VARIABLE);
        struct own_options given = { 0 };
        struct error error = { .text = "" };

        a.asked = text != NULL;
        settings_default(&a.setup.settings);
        bool good = !text || settings_parse(&a.setup.settings, text, &error);
        if (settings_skip(&a.setup.settings, program_invocation_short_name))
                return; /* a wrapper: what it starts may be one */
        if (!find_symbols()) {
                if (a.asked && symbols_hidden()) {
                        report_error(access(SYMBOLS_OWN_FILE, R_OK) == 0 ? RUNTIME_STRIPPED UNWRAPPED
                                                                         : RUNTIME_NO_PROC);
                        clean_environment();
                }
                return; /* not a GHC program: what it starts may be one */
        }
        if (runtime_up())
                return; /* attached: it begins with heapwatch_agent_attach */
        good = good && find_runtime(&error);
        if (good && a.setup.settings.off) {
                clean_environment();
                return;
        }
        good = good && rts.setupRtsFlags.address && syscall_filter_allows(&error) && open_server(&error);
        if (good && !put_hooks(rts.defaultRtsConfig.address, true)) {
                error_set(&error, "the runtime's configuration cannot be written");
                server_abandon();
                good = false;
        }
        if (good) { /* a profile by the options that we were given is wanted as bands, not as a file */
                options_of_words(&given, a.setup.settings.options);
                interpose_profile_file(given.heap_profile);
        } else {
                report_error(error.text);
        }
        clean_environment();
}

/* For `heapwatch attach`: called in the process once dlopen has returned. */
AGENT_EXPORT int heapwatch_agent_attach(const char *settings, char *answer, size_t answer_size)
{
        struct error error;

        if (a.begun && !a.child) {
                snprintf(answer, answer_size, "%s", server_path());
                return AGENT_THERE;
        }
        settings_default(&a.setup.settings);
        const bool parsed = settings_parse(&a.setup.settings, settings, &error);
        if ((!rts.defaultRtsConfig.address || a.setup.settings.symbols[0]) && !find_symbols()) {
                snprintf(answer, answer_size, "the runtime's symbols cannot be found: not a GHC program, or stripped");
                return AGENT_REFUSED;
        }
        if (!runtime_up() && !runtime_assume_forked()) {
                snprintf(answer, answer_size, "the program's runtime is just starting, or was never started");
                return AGENT_NOT_YET;
        }
        if (a.child)
                leave_parent();
        else if (a.on)
                server_abandon(); /* it was loaded too late for the hooks of the start */
        runtime_correct_clock_of_child();
        a.setup.attached = true;
        if (!parsed || !(a.on || find_runtime(&error)) || !syscall_filter_allows(&error) || !open_server(&error)) {
                snprintf(answer, answer_size, "%s", error.text);
                return AGENT_REFUSED;
        }
        if (!rts.rtsConfig.address || rts.rtsConfig.size != sizeof(struct rts_config) ||
            !put_hooks(rts.rtsConfig.address, false)) {
                snprintf(answer, answer_size, "the runtime's configuration cannot be found");
                server_abandon();
                return AGENT_REFUSED;
        }
        if (start_agent() != 0) {
                snprintf(answer, answer_size, "cannot start a thread");
                server_abandon();
                return AGENT_REFUSED;
        }
        if (gettid() == getpid())
                pace_point(); /* it waits in the runtime's select(2), which is a moment at which all is at rest */
        snprintf(answer, answer_size, "%s", server_path());
        return AGENT_BEGUN;
}

/* exit(3): after the runtime's end, or without one. */
__attribute__((destructor)) static void agent_end(void)
{
        if (!a.begun || a.child)
                return;
        if (!a.ending) {
                pace_last_flush();
                if (!runtime_kind.log)
                        synthetic_end(true);
        }
        server_finish();
}
