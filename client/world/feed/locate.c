/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/feed/locate.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/absent.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/text_out.h"
#include "proto/base/whole_file.h"
#include "proto/eventlog/recording/stretch.h"
#include "proto/wire/endpoints.h"

#define WAIT_MS  10000 /* for the disk */
#define PAUSE_MS 20

#define PROFILE_BYTES ((size_t)16 << 20)

struct answer {
        char directory[RECORDED_PATH_MAX];
        char paused[LOCATE_PAUSED_MAX];
        uint64_t sealed, written;
        bool refused;
        struct error error;
};

static void on_reply(void *ctx, const Hw__Reply *reply)
{
        struct answer *a = ctx;

        if (reply->error) {
                a->refused = true;
                error_set(&a->error, "%s", reply->error);
        } else if (reply->what_case == HW__REPLY__WHAT_RECORDING) {
                snprintf(a->directory, sizeof(a->directory), "%s",
                         reply->recording->directory ? reply->recording->directory : "");
                snprintf(a->paused, sizeof(a->paused), "%s", reply->recording->paused ? reply->recording->paused : "");
                a->sealed = reply->recording->sealed;
                a->written = reply->recording->written;
        }
}

/* target NULL: where recordings are. False with an error message. */
static bool send_request(const struct locate *l, const char *target, bool seal, struct answer *a, struct error *error)
{
        char publish[256], request[256];
        const char *endpoint = l->endpoint;
        Hw__Request *r;

        *a = (struct answer){ .directory = "" };
        if (!endpoint && hw_default_endpoints(publish, request, sizeof(publish)) < 0)
                return error_set(error, "the default socket's path is too long; give --connect");
        if (!endpoint)
                endpoint = publish;
        r = hw_request_new(HW__REQUEST__WHAT_RECORDING);
        if (!r || (target && hw_request_set_text(&r->recording->target, target) < 0)) {
                hw_request_destroy(&r);
                return error_set(error, "out of memory");
        }
        r->recording->has_seal = true;
        r->recording->seal = seal;
        const bool answered = absent_request(endpoint, r, on_reply, a, error);
        hw_request_destroy(&r);
        if (!answered)
                return false;
        if (a->refused)
                *error = a->error;
        return !a->refused;
}

bool locate_paused(const struct locate *l, char ret_why[LOCATE_PAUSED_MAX])
{
        struct error error;
        struct answer a;

        if (l->directory || !send_request(l, NULL, false, &a, &error))
                return false;
        memcpy(ret_why, a.paused, LOCATE_PAUSED_MAX);
        return a.paused[0];
}

/* Where your own daemon kept recordings, if none answers: all of them are on disk then. */
static bool find_kept_directory(const struct locate *l, char directory[RECORDED_PATH_MAX])
{
        char publish[256], request[256], state[RECORDED_PATH_MAX - sizeof("/recordings")];

        if (l->endpoint || hw_default_endpoints(publish, request, sizeof(publish)) < 0 || !absent_at_once(publish) ||
            state_directory(state, sizeof(state), publish) != 0)
                return false;
        (void)snprintf(directory, RECORDED_PATH_MAX, "%s/recordings", state);
        return access(directory, R_OK | X_OK) == 0;
}

bool locate_directory(const struct locate *l, char directory[RECORDED_PATH_MAX], struct error *error)
{
        struct answer a;

        if (l->directory)
                return snprintf(directory, RECORDED_PATH_MAX, "%s", l->directory) < (int)RECORDED_PATH_MAX ||
                       error_set(error, "the path is too long");
        if (find_kept_directory(l, directory))
                return true;
        if (!send_request(l, NULL, false, &a, error))
                return false;
        memcpy(directory, a.directory, RECORDED_PATH_MAX);
        return true;
}

/* An ELF file that is no core file, whose type is 4 in either byte order. */
static bool is_program(const char *path)
{
        char start[18] = { 0 };
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        bool yes = fd >= 0 && read(fd, start, sizeof(start)) == (ssize_t)sizeof(start) && !memcmp(start, "\177ELF", 4);

        close_fd(&fd);
        return yes && (start[16] | start[17]) != ET_CORE;
}

bool locate_is_log(const char *what)
{
        struct stat st;

        if (strchr(what, '/') || stretch_is(what) || text_has_suffix(what, ".eventlog") || !strcmp(what, "-"))
                return true;
        return stat(what, &st) == 0 && !S_ISDIR(st.st_mode) && !(S_ISREG(st.st_mode) && is_program(what));
}

bool locate_seal(const struct locate *l, const char *which, struct error *error)
{
        uint64_t until_ms = clock_mono_ms() + WAIT_MS;
        char directory[RECORDED_PATH_MAX];
        struct answer a, now;

        if (l->directory || strpbrk(which, "@~") || find_kept_directory(l, directory))
                return true;
        if (!send_request(l, which, true, &a, error))
                return false;
        for (now = a; now.written < a.sealed;) {
                if (clock_mono_ms() >= until_ms)
                        return error_set(error,
                                         "the recording was not written to disk in time; the newest part would "
                                         "be missing");
                (void)poll(NULL, 0, PAUSE_MS);
                if (!send_request(l, NULL, false, &now, error))
                        return false;
        }
        return true;
}

char *locate_log(const char *path, struct error *error)
{
        const struct locate own = { .endpoint = NULL };
        char directory[RECORDED_PATH_MAX], *text = NULL;
        struct stretch s;

        if (!stretch_is(path))
                return strdup(strcmp(path, "-") != 0 ? path : "/dev/stdin");
        if (!stretch_parse(path, &s, error))
                return NULL;
        if (s.directory[0])
                return strdup(path);
        if (!locate_directory(&own, directory, error) || !locate_seal(&own, s.which, error)) {
                const struct error why = *error;

                (void)error_set(error,
                                "%s; without a daemon name the directory of recordings: " RECORDING_PREFIX "DIR/%s",
                                why.text, path + strlen(RECORDING_PREFIX));
                return NULL;
        }
        if (asprintf(&text, RECORDING_PREFIX "%s/%s", directory, path + strlen(RECORDING_PREFIX)) < 0) {
                error_set(error, "out of memory");
                return NULL;
        }
        return text;
}

/* ------------------------------------------------------------------------ profiles */

char *locate_profile(const char *path, uint64_t *ret_wall_ns, struct error *error)
{
        char directory[RECORDED_PATH_MAX], file[RECORDED_PATH_MAX], *text = NULL;
        const struct locate own = { .endpoint = NULL };
        struct cutout_range range;
        struct recorded_run run;
        struct stretch s;
        size_t size;

        *error = (struct error){ "" };
        if (!stretch_is(path) || !stretch_parse(path, &s, error))
                return NULL;
        (void)snprintf(directory, RECORDED_PATH_MAX, "%s", s.directory);
        if ((!directory[0] && !locate_directory(&own, directory, error)) ||
            recorded_run_find(directory, s.which, &run, error) != 0 || !stretch_range(&s, &run, &range, error) ||
            !recorded_run_profile(directory, &run, range.from_ns, range.to_ns, file, ret_wall_ns))
                return NULL;
        const int r = whole_file_read(file, PROFILE_BYTES, &text, &size);
        if (r != 0)
                (void)error_set(error, "%.500s: %s", file, strerror(-r));
        return text;
}

bool locate_new_profile(const struct locate *l, const char *target, uint64_t wall_ns, char path[RECORDED_PATH_MAX],
                        struct error *error)
{
        char directory[RECORDED_PATH_MAX], name[PROFILE_NAME_BYTES];
        struct recorded_run run;

        if (!locate_directory(l, directory, error) || recorded_run_find(directory, target, &run, error) != 0)
                return false;
        if (!run.live)
                return error_set(error,
                                 "no run of %.64s is being recorded now: the profile has nothing to be kept with",
                                 target);
        profile_name_make(name, wall_ns);
        const size_t n = recorded_run_path(path, directory, &run) == 0 ? strlen(path) : RECORDED_PATH_MAX;
        return (n < RECORDED_PATH_MAX &&
                snprintf(path + n, RECORDED_PATH_MAX - n, "/%s", name) < (int)(RECORDED_PATH_MAX - n)) ||
               error_set(error, "the path of the recording is too long");
}
