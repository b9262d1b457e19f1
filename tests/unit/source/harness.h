/* SPDX-License-Identifier: BSD-3-Clause */
/* harness.h - a real event loop, a private directory, and a sink that records its calls. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "daemon/source/source.h"
#include "proto/base/error.h"

#define DEADLINE_S 120.0
#define KEEP_BYTES 65536

static struct event_base *base;
static char dir[] = "/tmp/heapwatch-source-XXXXXX";

struct heard {
        char text[KEEP_BYTES]; /* first bytes since the last cut */
        size_t size;           /* all bytes since the last cut */
        uint64_t total;
        unsigned cuts, states;
        unsigned turns, turns_left; /* that a piece takes longer */
        enum source_state state;
        char why[2048], cut_why[2048];
        struct source *source;
};

static bool on_bytes(void *ctx, const struct read_piece *piece)
{
        const uint8_t *data = piece->data;
        const size_t size = piece->size;
        struct heard *h = ctx;

        for (size_t i = 0; i < size && h->size + i < KEEP_BYTES - 1; i++)
                h->text[h->size + i] = (char)data[i];
        h->size += size;
        h->total += size;
        h->text[h->size < KEEP_BYTES ? h->size : KEEP_BYTES - 1] = '\0';
        h->turns_left = h->turns;
        return h->turns == 0;
}

static bool on_more(void *ctx)
{
        struct heard *h = ctx;

        return --h->turns_left == 0;
}

static void on_cut(void *ctx, const char *why)
{
        struct heard *h = ctx;

        h->cuts++;
        h->size = 0;
        h->text[0] = '\0';
        snprintf(h->cut_why, sizeof(h->cut_why), "%s", why);
}

static void on_state(void *ctx, enum source_state state, const char *why)
{
        struct heard *h = ctx;

        h->state = state;
        h->states++;
        snprintf(h->why, sizeof(h->why), "%s", why);
}

/* "%s" in the URI stands for the private directory. */
__attribute__((unused, format(printf, 2, 3))) static void hear(struct heard *h, const char *format, ...)
{
        struct source_sink sink = { h, on_bytes, on_more, on_cut, on_state, NULL };
        struct source_uri uri;
        char text[2048];
        struct error error = { "" };
        va_list args;

        memset(h, 0, sizeof(*h));
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        if (!source_uri_parse(text, &uri, &error))
                fail_msg("%s: %s", text, error.text);
        h->source = source_open(base, &uri, &sink, NULL, &error);
        if (!h->source)
                fail_msg("%s: %s", text, error.text);
        assert_int_equal(h->states, 0); /* source_open itself reports nothing */
}

static double now_s(void)
{
        return (double)clock_mono_ns() / 1e9;
}

/* Runs the loop until the condition holds; fails when it does not in time. */
#define run_until(condition)                                                                                           \
        do {                                                                                                           \
                double deadline_ = now_s() + DEADLINE_S;                                                               \
                struct timeval short_ = { 0, 20000 };                                                                  \
                while (!(condition)) {                                                                                 \
                        if (now_s() > deadline_)                                                                       \
                                fail_msg("line %d: not within %g s: %s", __LINE__, DEADLINE_S, #condition);            \
                        event_base_loopexit(base, &short_);                                                            \
                        event_base_loop(base, EVLOOP_ONCE);                                                            \
                }                                                                                                      \
        } while (0)

/* Runs the loop for as long as it takes to be sure that nothing comes. */
__attribute__((unused)) static void run_for(double seconds)
{
        double end = now_s() + seconds;
        struct timeval short_ = { 0, 20000 };

        while (now_s() < end) {
                event_base_loopexit(base, &short_);
                event_base_loop(base, EVLOOP_ONCE);
        }
}

__attribute__((unused)) static const char *in_dir(const char *name)
{
        static char path[4][256];
        static unsigned next;
        char *p = path[next++ % 4];

        snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
        return p;
}

__attribute__((unused)) static void put(const char *path, int flags, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | flags, 0600);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        return remove(path);
}

static int set_up(void **state)
{
        signal(SIGPIPE, SIG_IGN);
        memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
        base = event_base_new();
        return base && mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
        event_base_free(base);
        return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
