/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random lives of programs through the real targets and pipelines, with a clock and processes of their own: streams
 * that begin, break, return and end, exit statuses, names that are taken over, restarts of the daemon. After each step
 * everything must fit together (check_all), and no run may have vanished.
 *
 *      test_lives [LIVES [SEED]]      default: 20,000 from seed 1; a failure prints its SEED, for LIVES 1
 */
#include "tests/unit/publish/support.h"

#include <errno.h>
#include <ftw.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/loop/shutdown.h"
#include "daemon/watch/alerting/internal.h"
#include "daemon/record/checkpoint/store.h"
#include "daemon/log.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/watch/targets/pipeline_checkpoint.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "daemon/watch/targets/targets.h"
#include "proto/base/error.h"
#include "tests/unit/draft.h"
#include "tests/unit/thin.h"

#define SECOND_NS  UINT64_C(1000000000)
#define BOOT_S     UINT64_C(2500000000) /* later than this machine's clock: who waits for a thread waits long enough */
#define STEPS_MOST 20u
#define NAMES      3u
#define PROCESSES  4u /* that can be alive at once */

/* ------------------------------------------------------------------- the clock */

static uint64_t now_ns = UINT64_C(1000000000000); /* since boot */
static uint64_t stepped_ns;                       /* by how much the wall clock has been set */

/* Instead of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
        const uint64_t ns = clock == CLOCK_REALTIME ? BOOT_S * SECOND_NS + stepped_ns + now_ns : now_ns;

        ret->tv_sec = (time_t)(ns / SECOND_NS);
        ret->tv_nsec = (long)(ns % SECOND_NS);
        return 0;
}

/* -------------------------------------------------------------------- the world */

/* The newest program of a target. */
struct program {
        uint32_t pid;
        uint64_t start_ns; /* since boot; whole ticks */
        bool streams;      /* a stream of it has begun and not ended */
};

static const struct {
        const char *name, *uri;
        bool one_run;
} kinds[NAMES] = {
        { "one", "unix:/nowhere/one", true },
        { "many", "unix:/nowhere/many", false },
        { "pipe", "fifo:/nowhere/pipe", true },
};

static struct {
        struct event_base *base;
        struct bus *bus;
        struct targets *targets;
        struct checkpoint_store *store;
        struct ruleset *rules;
        char dir[64], publish[96], request[96], checkpoints[96], root[96];
        struct program programs[NAMES];
        uint32_t pids, stores;
        unsigned kind, kinds; /* of this life: the first, and how many */
        uint64_t random, seed;
        char trace[4096];
        size_t trace_size;
} w;

static uint32_t roll(uint32_t sides)
{
        w.random = w.random * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(w.random >> 33) % sides;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        int n = vsnprintf(w.trace + w.trace_size, sizeof(w.trace) - w.trace_size, format, args);
        va_end(args);
        if (n > 0 && (size_t)n < sizeof(w.trace) - w.trace_size)
                w.trace_size += (size_t)n;
}

static void print_trace(void)
{
        (void)fprintf(stderr, "\nseed %llu:%s\n", (unsigned long long)w.seed, w.trace);
}

static void on_death(int signal)
{
        print_trace();
        (void)raise(signal); /* its handler is reset: dies of it */
}

void __asan_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define must(condition)                                                                                                \
        do {                                                                                                           \
                if (!(condition)) {                                                                                    \
                        print_trace();                                                                                 \
                        fail_msg("%s", #condition);                                                                    \
                }                                                                                                      \
        } while (0)

static void write_file(const char *path, const char *text)
{
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

static void process_path(char path[160], uint32_t pid)
{
        (void)snprintf(path, 160, "%s/proc/%u/stat", w.root, pid % PROCESSES + 1);
}

static uint32_t shown_pid(const struct program *g)
{
        return g->pid % PROCESSES + 1;
}

static void set_process_state(const struct program *g, char state)
{
        char path[160], text[256];

        process_path(path, g->pid);
        (void)snprintf(text, sizeof(text), "1 (p) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0\n", state,
                       (unsigned long long)(g->start_ns / (SECOND_NS / 100)));
        write_file(path, text);
}

/* Another program begins now. Its pid may be that of an earlier one. */
static void start_program(struct program *g)
{
        g->pid = w.pids++;
        g->start_ns = now_ns - now_ns % (SECOND_NS / 100);
        set_process_state(g, 'S');
}

/* SIGSTOP, a debugger, SIGCONT; for two looks. */
static void stop_or_continue(const struct program *g)
{
        static const char states[] = { 'T', 't', 'S' };
        const char state = states[roll(3)];
        char path[160];

        process_path(path, g->pid);
        note(" %c", state);
        if (access(path, F_OK) < 0)
                return;
        set_process_state(g, state);
        for (int i = 0; i < 2; i++) {
                now_ns += SECOND_NS;
                targets_heartbeat(w.targets);
        }
}

static void kill_program(const struct program *g)
{
        char path[160];

        process_path(path, g->pid);
        (void)unlink(path);
}

/* -------------------------------------------------------------------- invariants */

static bool alerts_run_on(const struct pipeline *p)
{
        return pipeline_in_run(p) || p->state.life == LIFE_LOST;
}

static void check(const struct pipeline *p)
{
        const bool aside = strchr(p->name, '~') != NULL;

        must(p->state.life < LIFE_REMOVED && p->state.life != LIFE_ENDING);
        must(!pipeline_is_busy(p));
        must((!pipeline_in_run(p) && !life_is_lost(p->state.life)) || p->state.runs > 0);
        must(!life_is_over(p->state.life) || p->state.runs > 0 || p->state.ended.known);
        must(!p->alerting || p->alerting->in_run == alerts_run_on(p));
        must(!p->same_run || life_is_over(p->state.life));
        must(!p->state.kept || (!p->source && !pipeline_in_run(p)));
        must(!aside || p->state.kept);
        must(!aside || !p->alerting);
        must(!aside || p->state.life != LIFE_LOST); /* its alerts have ended */
        must(p->decoder || p->state.kept);
        must(p->source || p->state.kept);
        if (p->state.ended.known && life_is_over(p->state.life))
                must(p->state.life != LIFE_CRASHED || p->state.ended.signal ||
                     p->state.ended.status == EXIT_HEAP_EXHAUSTED);
        if (!p->alerting || alerts_run_on(p))
                return;
        const struct alerts *alerts = alerting_alerts(p->alerting);
        for (size_t i = 0; i < alerts_count(alerts); i++) {
                const struct alert *a = alerts_get(alerts, i);
                must(a->state.now != ALERT_FIRING || strcmp(a->rule->name, "has-data") != 0); /* ended with its run */
        }
}

static void check_all(void)
{
        for (size_t i = 0; i < targets_count(w.targets); i++)
                check(targets_get(w.targets, i));
}

/* ------------------------------------------------------------------------ steps */

static struct pipeline *target(unsigned k)
{
        struct pipeline *p = targets_find(w.targets, kinds[k].name);

        return p && !pipeline_is_kept(p) ? p : NULL;
}

static bool is_there(const struct pipeline *p)
{
        for (size_t i = 0; i < targets_count(w.targets); i++)
                if (targets_get(w.targets, i) == p)
                        return true;
        return false;
}

/* Another target has all of its run already: of a stream that began again with the same events. */
static bool is_set_aside(const struct pipeline *p)
{
        for (size_t i = 0; i < targets_count(w.targets); i++) {
                const struct pipeline *other = targets_get(w.targets, i);
                if (other != p && other->state.kept && pipeline_has_run_of(other, p))
                        return true;
        }
        return false;
}

static void add(unsigned k)
{
        struct pipeline *before = targets_find(w.targets, kinds[k].name);
        const bool over = !before || pipeline_is_kept(before) || pipeline_is_over(before);
        const bool worth = before && pipeline_is_worth_keeping(before) && !is_set_aside(before);
        const struct target_wish wish = { .one_run = kinds[k].one_run };
        struct source_uri uri;
        struct error error;

        assert_true(source_uri_parse(kinds[k].uri, &uri, &error));
        const int r = targets_add(w.targets, kinds[k].name, &uri, &wish, NULL, &error);
        must(r == (over ? 0 : -EEXIST));
        if (over && worth) /* it did not vanish */
                must(is_there(before) && strchr(before->name, '~') && before->state.kept);
        struct pipeline *p = targets_find(w.targets, kinds[k].name);
        must(p);
        p->state.process.root = w.root;
        if (over)
                w.programs[k].streams = false;
}

static void feed(struct pipeline *p, const struct draft *d)
{
        /* A copy of its own, so that nothing of it can be used later. */
        uint8_t *bytes = malloc(d->size);
        assert_non_null(bytes);
        memcpy(bytes, d->p, d->size);
        const struct read_piece piece = { .data = bytes, .size = d->size };
        bool all = pipeline_process_bytes(p, &piece);
        while (!all)
                all = pipeline_process_pending(p);
        free(bytes);
}

static void feed_header(unsigned k, bool known)
{
        static const uint16_t types[][2] = { { 32, 8 }, { 43, 16 }, { 50, 12 }, { 51, 12 } };
        const struct program *g = &w.programs[k];
        const uint64_t wall_ns = BOOT_S * SECOND_NS + g->start_ns;
        static struct draft d;

        d.size = 0;
        put_header(&d, types, 4);
        if (known) {
                put_event(&d, 32, 0);
                put(&d, 0, 4);
                put(&d, shown_pid(g), 4);
                put_event(&d, 43, 0);
                put(&d, 0, 4);
                put(&d, wall_ns / SECOND_NS, 8);
                put(&d, wall_ns % SECOND_NS, 4);
        }
        feed(target(k), &d);
}

static void feed_data(unsigned k)
{
        static struct draft d;
        const uint64_t at_ns = now_ns - w.programs[k].start_ns;

        d.size = 0;
        put_event(&d, 50, at_ns);
        put(&d, 0, 4);
        put(&d, 3u << 20, 8);
        put_event(&d, 51, at_ns);
        put(&d, 0, 4);
        put(&d, 1u << 20, 8);
        feed(target(k), &d);
}

/* A stream begins: of a new program, or of the same one again. */
static void begin_stream(unsigned k)
{
        struct pipeline *p = target(k);
        const uint32_t how = roll(4);
        const uint32_t before = p->state.runs;

        if (how > 0 || !w.programs[k].pid)
                start_program(&w.programs[k]);
        note(how > 0 ? " new" : " again");
        pipeline_source_state(p, SOURCE_OPEN, "open");
        feed_header(k, how < 3);
        feed_data(k);
        w.programs[k].streams = true;
        must(p->same_run || pipeline_in_run(p) || p->state.runs >= before);
}

static void end_mark(unsigned k)
{
        static struct draft d;

        d.size = 0;
        put(&d, 0xffff, 2);
        feed(target(k), &d);
}

static void junk(unsigned k)
{
        static struct draft d;

        d.size = 0;
        for (uint32_t n = 1 + roll(40); n > 0; n--)
                put(&d, roll(256), 1);
        feed(target(k), &d);
}

static void exit_reported(unsigned k)
{
        static const struct run_exit ends[] = {
                { .known = true },
                { .known = true, .status = 1 },
                { .known = true, .status = EXIT_HEAP_EXHAUSTED },
                { .known = true, .signal = SIGKILL },
                { .known = true, .signal = SIGTERM },
        };
        struct pipeline *p = targets_find(w.targets, kinds[k].name);
        const uint32_t end = roll(5);

        note("%u", end);
        kill_program(&w.programs[k]);
        if (p)
                pipeline_exited(p, &ends[end]);
}

static void pass_time(void)
{
        static const uint32_t seconds[] = { 1, 1, 2, 3, 15, 70, 400, 4000 };
        const uint32_t s = seconds[roll(8)];

        note(" %u", s);
        now_ns += s * SECOND_NS;
        if (roll(8) == 0)
                stepped_ns = roll(2) * 3 * 24 * 3600 * SECOND_NS; /* forward, and back */
        targets_heartbeat(w.targets);
}

static void make_targets(void)
{
        const struct targets_options options = {
                .trend = tracker_config_scaled(TREND_MINUTE_NS),
                .rules = w.rules,
                .keep = { .most = 6, .for_ns = 3600 * SECOND_NS },
                .checkpoints = w.store,
        };

        w.targets = targets_new(w.base, w.bus, &options);
        assert_non_null(w.targets);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
        return remove(path);
}

/* A store of its own for each daemon: what the previous one still removes cannot be of the next one. */
static struct checkpoint_store *new_store(void)
{
        struct checkpoint_store *s;
        struct error error;

        (void)snprintf(w.checkpoints, sizeof(w.checkpoints), "%s/%u", w.dir, w.stores++);
        s = checkpoint_store_new(w.checkpoints, &error);
        assert_non_null(s);
        return s;
}

static void drop_store(struct checkpoint_store *s)
{
        char dir[96];

        (void)snprintf(dir, sizeof(dir), "%s", checkpoint_store_directory(s));
        checkpoint_store_destroy(&s);
        assert_int_equal(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* The daemon is started again; sometimes it was killed, and what came since its checkpoint is lost to it. */
static void restart(void)
{
        struct name {
                char name[TARGET_NAME_MAX + 1], uri[SOURCE_PATH_MAX + 16];
                bool one_run;
                uint32_t runs;
        };
        static struct name was[32];
        const bool exact = roll(2);
        struct checkpoint_store *old = w.store;
        size_t n = 0;

        w.store = new_store();
        note(exact ? " exactly" : " killed");
        for (size_t i = 0; i < targets_count(w.targets) && n < 32; i++, n++) {
                struct pipeline *p = targets_get(w.targets, i);
                struct checkpoint c = { .wall_ns = now_ns };
                c.image = pipeline_checkpoint(p, exact, &c.n);
                assert_non_null(c.image);
                assert_int_equal(checkpoint_write(w.checkpoints, p->name, &c), 0);
                free(c.image);
                (void)snprintf(was[n].name, sizeof(was[n].name), "%s", p->name);
                (void)snprintf(was[n].uri, sizeof(was[n].uri), "%s", p->uri.text);
                was[n].one_run = p->one_run;
                was[n].runs = p->state.runs;
        }
        targets_destroy(&w.targets);
        drop_store(old);
        now_ns += roll(3) * SECOND_NS;
        make_targets();
        for (size_t i = 0; i < n; i++) {
                const struct target_wish wish = { .one_run = was[i].one_run };
                struct source_uri uri;
                struct error error;
                assert_true(source_uri_parse(was[i].uri, &uri, &error));
                must(targets_add(w.targets, was[i].name, &uri, &wish, NULL, &error) == 0);
                struct pipeline *p = targets_find(w.targets, was[i].name);
                must(p && p->state.runs == was[i].runs); /* it came back with its run */
                p->state.process.root = w.root;
        }
}

static void step(void)
{
        const unsigned k = (w.kind + roll(w.kinds)) % NAMES;
        struct program *g = &w.programs[k];
        const uint32_t what = roll(17);

        note("\n  %s", kinds[k].name);
        if (!target(k) && what > 3) {
                note(" add");
                add(k);
                return;
        }
        switch (what) {
        case 16:
                note(" stop");
                stop_or_continue(g);
                break;
        case 0:
                note(" add");
                add(k);
                break;
        case 1:
                note(" exit ");
                exit_reported(k);
                break;
        case 2:
                note(" time");
                pass_time();
                break;
        case 3:
                note(" restart");
                if (roll(12) == 0) /* slow: threads and files */
                        restart();
                break;
        case 4:
                note(" remove");
                if (roll(4) == 0)
                        must(targets_remove(w.targets, kinds[k].name) == 0);
                break;
        case 5:
        case 6:
        case 7:
                note(" stream");
                begin_stream(k);
                break;
        case 8:
                note(" data");
                if (g->streams)
                        feed_data(k);
                break;
        case 9:
                note(" end");
                if (g->streams)
                        end_mark(k);
                break;
        case 10:
                note(" cut");
                pipeline_finish_stream(target(k), "the stream was cut");
                pipeline_source_state(target(k), SOURCE_WAITING, "waiting");
                g->streams = false;
                break;
        case 11:
                note(" junk");
                junk(k);
                break;
        case 12:
                note(" missing");
                pipeline_miss(target(k));
                break;
        case 13:
                note(" dies");
                kill_program(g);
                break;
        case 14:
                note(" refused");
                pipeline_source_state(target(k), SOURCE_FAILED, "no permission");
                break;
        default:
                note(" time");
                pass_time();
                break;
        }
}

static void live(uint64_t seed)
{
        w.seed = w.random = seed;
        w.trace_size = 0;
        w.pids = 1;
        memset(w.programs, 0, sizeof(w.programs));
        w.kind = roll(NAMES);
        w.kinds = roll(8) ? 1 : NAMES;
        for (uint32_t steps = 2 + roll(STEPS_MOST - 2); steps > 0; steps--) {
                step();
                check_all();
        }
        while (targets_count(w.targets) > 0)
                must(targets_remove(w.targets, pipeline_name(targets_get(w.targets, 0))) == 0);
}

/* ------------------------------------------------------------------------- main */

static uint64_t lives, first = 1;

static void all_lives_are_consistent(void **state)
{
        for (uint64_t i = 0; i < lives; i++)
                live(first + i);
}

static void no_request(void *ctx, const Hw__Request *request, struct bus_client *client)
{
}

static void refuse(void *ctx, const char *text)
{
        fail_msg("%s", text);
}

static int set_up(void **state)
{
        static const char own_rule[] =
                "groups:\n  - name: mine\n    rules:\n"
                "    - alert: has-data\n      expr: live > 0\n"
                "    - alert: crashed\n      expr: crashed\n"
                "    - alert: loop\n      expr: increase(restarts, 15m) >= 3\n";
        const struct bus_handler handler = { .request = no_request };
        const struct error_sink says = { .say = refuse };
        struct error error;
        char path[160], text[64];

        log_set_level(getenv("LIVES_LOG") ? LOG_DEBUG : LOG_ERROR);
        (void)snprintf(w.dir, sizeof(w.dir), "%s/hw-lives-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        assert_non_null(mkdtemp(w.dir));
        (void)snprintf(w.publish, sizeof(w.publish), "ipc://%s/publish", w.dir);
        (void)snprintf(w.request, sizeof(w.request), "ipc://%s/request", w.dir);
        (void)snprintf(w.root, sizeof(w.root), "%s/root", w.dir);
        (void)snprintf(path, sizeof(path), "%s/proc", w.root);
        assert_int_equal(mkdir(w.root, 0700) | mkdir(path, 0700), 0);
        for (uint32_t i = 1; i <= PROCESSES; i++) {
                (void)snprintf(path, sizeof(path), "%s/proc/%u", w.root, i);
                assert_int_equal(mkdir(path, 0700), 0);
        }
        (void)snprintf(path, sizeof(path), "%s/proc/stat", w.root);
        (void)snprintf(text, sizeof(text), "cpu 0\nbtime %llu\n", (unsigned long long)BOOT_S);
        write_file(path, text);
        const struct bus_options endpoints = { .publish_endpoint = w.publish, .request_endpoint = w.request };
        w.base = event_base_new();
        assert_int_equal(event_base_priority_init(w.base, 2), 0);
        w.bus = bus_new(w.base, &endpoints, &handler, &error);
        assert_non_null(w.bus);
        w.store = new_store();
        w.rules = rules_load_text("lives", own_rule, &says);
        assert_non_null(w.rules);
        make_targets();
        if (__asan_set_death_callback)
                __asan_set_death_callback(print_trace);
        else
                (void)sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = on_death, .sa_flags = SA_RESETHAND }, NULL);
        return 0;
}

static int tear_down(void **state)
{
        targets_destroy(&w.targets);
        bus_destroy(&w.bus);
        drop_store(w.store);
        ruleset_destroy(&w.rules);
        event_base_free(w.base);
        return nftw(w.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Rules of the last moment may take longer than a daemon that ends has: the checkpoint before stays. Comes last. */
static void a_busy_target_holds_up_no_shutdown(void **state)
{
        const struct target_wish wish = { .one_run = false };
        struct source_uri uri;
        struct error error;
        size_t n;

        assert_true(source_uri_parse("file:/nowhere/a.eventlog", &uri, &error));
        assert_int_equal(targets_add(w.targets, "a", &uri, &wish, NULL, &error), 0);
        struct pipeline *p = targets_find(w.targets, "a");
        p->left.open = true;
        shutdown_begin();
        now_ns += STOP_S * SECOND_NS;
        assert_null(pipeline_checkpoint(p, true, &n));
        p->left.open = false;
        uint8_t *image = pipeline_checkpoint(p, true, &n);
        assert_non_null(image);
        free(image);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(all_lives_are_consistent, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_busy_target_holds_up_no_shutdown, set_up, tear_down),
        };

        (void)mallopt(M_MMAP_THRESHOLD, 1 << 30); /* targets come and go too often for the kernel */
        (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
        lives = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000 / thin(1, "lives");
        if (argc > 2)
                first = strtoull(argv[2], NULL, 10);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
