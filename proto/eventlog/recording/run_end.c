/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/run_end.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "heapwatch/text.h"
#include "proto/base/agent_socket.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/digits.h"
#include "proto/base/text_out.h"

#define NEW          RUN_END ".new"
#define STEP_MOST_NS UINT64_C(86400000000000)

#define OUT_OF_MEMORY "out-of-memory"
#define OUT_OF_CPU    "out-of-processor-time"
#define WHY           "why"
#define WHY_NOT       "why-not"

static const char *const names[] = {
        [RUN_END_UNKNOWN] = "",      [RUN_END_LOST] = "lost",       [RUN_END_ENDED] = "ended",
        [RUN_END_FAILED] = "failed", [RUN_END_CRASHED] = "crashed", [RUN_END_RUNNING] = "running",
};

const char *run_end_name(enum run_end_state state)
{
        return names[state];
}

bool run_end_is(const char *name)
{
        return !strcmp(name, RUN_END) || !strcmp(name, NEW);
}

/* ----------------------------------------------------------------- writing */

static void add_number(struct text_out *t, const char *key, uint64_t number)
{
        text_put(t, key);
        text_put(t, " ");
        text_put_u64(t, number);
        text_put(t, "\n");
}

/* The words are one line: what ends it becomes a space. */
static void add_words(struct text_out *t, const char *key, const char *words)
{
        text_put(t, key);
        for (const char *end = words; end; words = end + 1) {
                end = strchr(words, '\n');
                text_put(t, " ");
                text_put_n(t, words, end ? (size_t)(end - words) : strlen(words));
        }
        text_put(t, "\n");
}

size_t run_end_print(const struct run_end *end, char ret[RUN_END_TEXT_BYTES])
{
        struct text_out t;

        text_out_init(&t, ret, RUN_END_TEXT_BYTES);
        text_put(&t, RUN_END_MESSAGE);
        add_words(&t, "state", names[end->state]);
        if (end->exit_known)
                add_number(&t, end->signal ? "signal" : "status", end->signal ? end->signal : end->status);
        if (end->oom_killed)
                text_put(&t, OUT_OF_MEMORY "\n");
        if (end->out_of_cpu)
                text_put(&t, OUT_OF_CPU "\n");
        if (end->step_ns)
                add_number(&t, "step", end->step_ns);
        if (end->limit_bytes) {
                add_number(&t, "limit", end->limit_bytes);
                add_number(&t, "limit-source", end->limit_source);
        }
        if (end->reserved_bytes)
                add_number(&t, "reserved", end->reserved_bytes);
        if (end->resident_bytes) {
                add_number(&t, "resident", end->resident_bytes);
                add_number(&t, "resident-at", end->resident_wall_ns);
        }
        if (end->ended_wall_ns)
                add_number(&t, "ended-at", end->ended_wall_ns);
        if (end->started_wall_ns)
                add_number(&t, "started-at", end->started_wall_ns);
        if (end->why.state >= RUN_WHY_FOUND) {
                add_number(&t, "why-at", end->why.wall_ns);
                add_words(&t, end->why.state == RUN_WHY_FOUND ? WHY : WHY_NOT, end->why.text);
        }
        add_words(&t, "detail", end->detail);
        return t.used;
}

void run_why_set(struct run_why *why, enum run_why_state state, uint64_t wall_ns, const char *text)
{
        *why = (struct run_why){ .state = state, .wall_ns = wall_ns };
        if (text)
                (void)hw_utf8_clean(why->text, sizeof(why->text), text, strlen(text));
}

int run_end_write(int directory, const struct run_end *end)
{
        const int fd = openat(directory, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        char text[RUN_END_TEXT_BYTES];
        const size_t size = run_end_print(end, text);

        if (fd < 0)
                return -errno;
        const ssize_t n = write(fd, text, size);
        int r = n < 0 ? -errno : (size_t)n < size ? -ENOSPC : 0;
        if (close(fd) != 0 && r == 0)
                r = -errno;
        if (r == 0 && renameat(directory, NEW, directory, RUN_END) != 0)
                r = -errno;
        if (r != 0)
                (void)unlinkat(directory, NEW, 0);
        return r;
}

/* ----------------------------------------------------------------- reading */

static enum run_end_state state_of(const char *name)
{
        for (unsigned i = RUN_END_LOST; i <= RUN_END_RUNNING; i++)
                if (!strcmp(name, names[i]))
                        return (enum run_end_state)i;
        return RUN_END_UNKNOWN;
}

static bool read_words(const char *key, const char *words, struct run_end *ret)
{
        if (!strcmp(key, "state"))
                return (ret->state = state_of(words)) != RUN_END_UNKNOWN;
        if (!strcmp(key, OUT_OF_MEMORY))
                ret->oom_killed = true;
        if (!strcmp(key, OUT_OF_CPU))
                ret->out_of_cpu = true;
        if (!strcmp(key, WHY) || !strcmp(key, WHY_NOT))
                run_why_set(&ret->why, key[strlen(WHY)] ? RUN_WHY_NOT_FOUND : RUN_WHY_FOUND, ret->why.wall_ns, words);
        if (!strcmp(key, "detail"))
                (void)hw_utf8_clean(ret->detail, sizeof(ret->detail), words, strlen(words));
        return true;
}

/* False: the file is damaged. What a later version adds is skipped. */
static bool read_line(char *line, struct run_end *ret)
{
        uint64_t signal = 0, status = 0;
        const struct {
                const char *key;
                uint64_t most, *ret;
        } numbers[] = {
                { "signal", UINT32_MAX, &signal },
                { "status", UINT32_MAX, &status },
                { "step", STEP_MOST_NS, &ret->step_ns },
                { "limit", INT64_MAX, &ret->limit_bytes },
                { "limit-source", UINT8_MAX, &ret->limit_source },
                { "reserved", INT64_MAX, &ret->reserved_bytes },
                { "resident", INT64_MAX, &ret->resident_bytes },
                { "resident-at", INT64_MAX, &ret->resident_wall_ns },
                { "ended-at", INT64_MAX, &ret->ended_wall_ns },
                { "started-at", INT64_MAX, &ret->started_wall_ns },
                { WHY "-at", INT64_MAX, &ret->why.wall_ns },
        };
        char *words = line, *key = strsep(&words, " ");

        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                if (strcmp(key, numbers[i].key) != 0)
                        continue;
                if (!words || !digits_parse(words, numbers[i].most, numbers[i].ret))
                        return false;
                ret->exit_known = ret->exit_known || numbers[i].most == UINT32_MAX;
        }
        ret->signal = signal ? (uint32_t)signal : ret->signal;
        ret->status = status ? (uint32_t)status : ret->status;
        return read_words(key, words ? words : "", ret);
}

/* Of lines, the first of which was seen. */
static bool read_lines(char *text, struct run_end *ret)
{
        char *rest = text, *line;

        while ((line = strsep(&rest, "\n")))
                if (!read_line(line, ret))
                        return false;
        return ret->state != RUN_END_UNKNOWN;
}

bool run_end_parse(const char *text, size_t size, struct run_end *ret)
{
        const size_t first = strlen(RUN_END_MESSAGE);
        char lines[RUN_END_TEXT_BYTES];

        *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
        if (size < first || size - first >= sizeof(lines) || memcmp(text, RUN_END_MESSAGE, first) != 0)
                return false;
        memcpy(lines, text + first, size - first);
        lines[size - first] = '\0';
        if (read_lines(lines, ret))
                return true;
        *ret = (struct run_end){ .state = RUN_END_UNKNOWN };
        return false;
}

void run_end_read(int directory, struct run_end *ret)
{
        int fd = openat(directory, RUN_END, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        char text[RUN_END_TEXT_BYTES];
        const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

        close_fd(&fd);
        (void)run_end_parse(text, n > 0 ? (size_t)n : 0, ret);
}
