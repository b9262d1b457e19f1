/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: libzmq asks about each peer that speaks CURVE (zap.c), on the front's thread; only that peer waits for the
 * answer, at most ZMQ_HANDSHAKE_IVL. The front notes the key with the connection, and sends it along with each request,
 * for which the role is looked up: a change of it takes effect at once.
 *
 * A peer that does not speak CURVE, or expects another server key, never gets as far as that question: the front sees
 * libzmq end the connection.
 */
#include "daemon/publish/transport/admission.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/publish/transport/endpoint.h"
#include "daemon/publish/transport/front.h"
#include "proto/base/error.h"
#include "proto/base/private_directory.h"
#include "proto/cli/yaml/yaml_file.h"

struct admission {
        char listen[LISTEN_MAX];
        char directory[PATH_MAX];
        pthread_mutex_t lock; /* guards what follows; only the loop changes the keys, and reads them without it */
        struct key_pair server;
        struct authorized authorized;
        struct admission_stats stats;
};

/* ---------------------------------------------------------------------- keys */

static void append_line(void *ctx, const char *line)
{
        struct error *error = ctx;

        if (!error->text[0]) /* the first mistake only */
                error_set(error, "%s", line);
}

static bool path_in(char out[PATH_MAX], const struct admission *a, const char *name, struct error *error)
{
        int n = snprintf(out, PATH_MAX, "%s/%s", a->directory, name);

        return (n > 0 && n < PATH_MAX) || error_set(error, "%s: the path is too long", a->directory);
}

/* Whoever can change the list can authorise a key. */
static bool is_ours_alone(const char *path, struct error *error)
{
        struct stat st;

        if (stat(path, &st) != 0)
                return true; /* reading reports why */
        if (st.st_uid != geteuid() && st.st_uid != 0)
                return error_set(error, "%s: it belongs to another user", path);
        return !(st.st_mode & 022) || error_set(error, "%s: others may change it; chmod 600 it", path);
}

static bool read_keys(const struct admission *a, struct key_pair *server, struct authorized *authorized,
                      struct error *error)
{
        char path[PATH_MAX];
        struct error mistake = { .text = "" };
        const struct error_sink says = { .say = append_line, .ctx = &mistake };

        if (!path_in(path, a, KEYS_SERVER, error) || !key_pair_read(server, path, error))
                return false;
        if (!path_in(path, a, KEYS_AUTHORIZED, error) || !is_ours_alone(path, error)) {
                key_pair_wipe(server);
                return false;
        }
        if (authorized_read(authorized, path, &says))
                return true;
        key_pair_wipe(server);
        return error_set(error, "%s", mistake.text);
}

/* ---------------------------------------------------------------- handshakes */

bool admission_judge(struct admission *a, const struct zap_request *r, const char *wrong, const char *from)
{
        char key[KEY_TEXT];

        (void)pthread_mutex_lock(&a->lock);
        const struct authorized_key *known = wrong ? NULL : authorized_by_key(&a->authorized, r->public);
        if (known) {
                a->stats.admitted++;
                log_debug("admitted=%llu key=%s role=%s from=%s", (unsigned long long)a->stats.admitted, known->name,
                          role_name(known->role), from);
        } else {
                a->stats.refused++;
                key_print(r->public, key);
                log_warning("refused=%llu handshake from=%s: %s %s", (unsigned long long)a->stats.refused, from,
                            wrong ? "the request" : "not authorised: key", wrong ? wrong : key);
        }
        (void)pthread_mutex_unlock(&a->lock);
        return known;
}

void admission_count_failed(struct admission *a, const char *from, bool protocol)
{
        (void)pthread_mutex_lock(&a->lock);
        a->stats.failed++;
        log_warning("failed=%llu handshake from=%s: %s", (unsigned long long)a->stats.failed, from,
                    protocol ? "it is not by CURVE, or meant for another server key"
                             : "broken off: no ZeroMQ, or not in time");
        (void)pthread_mutex_unlock(&a->lock);
}

bool admission_holds(struct admission *a, const uint8_t public[KEY_BYTES])
{
        (void)pthread_mutex_lock(&a->lock);
        const bool holds = authorized_by_key(&a->authorized, public);
        (void)pthread_mutex_unlock(&a->lock);
        return holds;
}

void admission_count_shut(struct admission *a, const char *from)
{
        (void)pthread_mutex_lock(&a->lock);
        a->stats.shut++;
        log_info("connections_shut=%llu from=%s: its key was revoked", (unsigned long long)a->stats.shut, from);
        (void)pthread_mutex_unlock(&a->lock);
}

bool admission_set_key(struct admission *a, void *socket)
{
        const int yes = 1;

        (void)pthread_mutex_lock(&a->lock);
        const bool set = zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof(yes)) == 0 &&
                         zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, a->server.secret, KEY_BYTES) == 0;
        (void)pthread_mutex_unlock(&a->lock);
        return set;
}

/* ----------------------------------------------------------------------- life */

/* The directory is ours or root's, and nobody else may enter it. */
static bool check_directory(const char *path, struct error *error)
{
        struct stat st;

        if (stat(path, &st) != 0)
                return error_set(error, "%s: %s; `heapwatch keys new server --dir %s` makes it", path, strerror(errno),
                                 path);
        if (!S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0))
                return error_set(error, "%s: expected a directory that belongs to you or root", path);
        return !(st.st_mode & 077) || error_set(error, "%s: can be entered by others; " PRIVATE_DIRECTORY_REMEDY, path);
}

struct admission *admission_new(const char *listen, const char *keys, struct error *error)
{
        struct admission *a = calloc(1, sizeof(*a));

        if (!a) {
                error_set(error, "out of memory for keys");
                return NULL;
        }
        (void)pthread_mutex_init(&a->lock, NULL);
        (void)snprintf(a->listen, sizeof(a->listen), "%s", listen);
        (void)snprintf(a->directory, sizeof(a->directory), "%s", keys);
        if (!zmq_has("curve"))
                error_set(error, "this libzmq has no CURVE, by which keys work; without it, listen on ipc alone");
        else if (check_directory(keys, error) && read_keys(a, &a->server, &a->authorized, error)) {
                a->stats.authorized = a->authorized.n;
                log_info("listen=%s keys=%zu server_key=%s", a->listen, a->authorized.n, a->server.name);
                return a;
        }
        admission_destroy(&a);
        return NULL;
}

void admission_destroy(struct admission **ret)
{
        struct admission *a = *ret;

        if (!a)
                return;
        *ret = NULL;
        authorized_done(&a->authorized);
        key_pair_wipe(&a->server);
        (void)pthread_mutex_destroy(&a->lock);
        free(a);
}

/* Logs the keys that are no longer listed. */
static size_t count_gone(const struct authorized *before, const struct authorized *now)
{
        size_t n = 0;

        for (size_t i = 0; i < before->n; i++) {
                if (authorized_by_key(now, before->keys[i].public))
                        continue;
                log_info("revoked key=%s", before->keys[i].name);
                n++;
        }
        return n;
}

/* An empty file is a write that was cut short, and not the wish to shut everybody out. */
static bool is_cut_short(const struct admission *a, const struct authorized *authorized, struct error *error)
{
        char path[PATH_MAX];
        struct stat st;

        if (authorized->n > 0 || a->authorized.n == 0 || !path_in(path, a, KEYS_AUTHORIZED, error) ||
            stat(path, &st) != 0 || st.st_size > 0)
                return false;
        (void)error_set(error,
                        "%.800s is empty, which would shut out all %zu keys: they stay in force; if that is meant, "
                        "put a comment (# ...) into it, or remove it",
                        path, a->authorized.n);
        return true;
}

bool admission_reload(struct admission *a, struct error *error)
{
        struct key_pair server;
        struct authorized authorized, before = a->authorized;

        if (!read_keys(a, &server, &authorized, error))
                return false;
        if (is_cut_short(a, &authorized, error)) {
                key_pair_wipe(&server);
                return false;
        }
        const bool new_server = memcmp(server.secret, a->server.secret, KEY_BYTES) != 0;
        (void)pthread_mutex_lock(&a->lock);
        a->server = server;
        a->authorized = authorized;
        a->stats.authorized = authorized.n;
        (void)pthread_mutex_unlock(&a->lock);
        key_pair_wipe(&server);
        log_info("keys=%zu read again, revoked=%zu server_key=%s", authorized.n, count_gone(&before, &authorized),
                 new_server ? "new" : "as before");
        authorized_done(&before);
        return true;
}

/* ------------------------------------------------------------------- who it is */

void admission_who(const struct admission *a, const struct front_identity *sender, struct principal *ret)
{
        *ret = (struct principal){ .role = ROLE_CONTROL };
        if (!sender->has_key)
                return;
        const struct authorized_key *known = authorized_by_key(&a->authorized, sender->public);
        ret->revoked = !known;
        ret->role = known ? known->role : ROLE_READ;
        (void)snprintf(ret->name, sizeof(ret->name), "%s", known ? known->name : "");
}

struct admission_stats admission_stats(struct admission *a)
{
        (void)pthread_mutex_lock(&a->lock);
        const struct admission_stats stats = a->stats;
        (void)pthread_mutex_unlock(&a->lock);
        return stats;
}

const char *admission_listens(const struct admission *a)
{
        return a->listen;
}
