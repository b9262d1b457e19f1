/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_keys.c - what a peer and the files of keys and hosts may hold. The first byte says which: Z frames of ZAP, each
 * behind a byte with its length; A authorized keys, H hosts, K a key's file.
 *
 * What must hold: whoever is let in has a key of 32 bytes, what goes into a log is printable, names are names, and
 * nothing is left of what was refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/endpoints.h"
#include "daemon/publish/transport/admission.h"
#include "proto/base/error.h"
#include "proto/cli/keys/key.h"
#include "proto/cli/yaml/yaml_file.h"

static void must(bool holds)
{
        if (!holds)
                abort();
}

static void nobody(void *ctx, const char *line)
{
        must(*line != '\0');
}

static const struct error_sink says = { .say = nobody };

static void ask(const uint8_t *data, size_t size)
{
        struct zap_frame frames[ZAP_FRAMES_MAX] = { { NULL, 0 } };
        struct zap_request r;
        size_t n = 0;

        while (size > 0 && n < ZAP_FRAMES_MAX) {
                size_t length = data[0] < size - 1 ? data[0] : size - 1;
                frames[n++] = (struct zap_frame){ data + 1, length };
                data += 1 + length;
                size -= 1 + length;
        }
        const char *wrong = zap_read(frames, n, &r);
        must(wrong || (n == 7 && frames[6].size == KEY_BYTES && !memcmp(r.public, frames[6].data, KEY_BYTES)));
        must(!r.id || r.n_id <= ZAP_ID_MAX);
}

static void read_authorized(const char *text)
{
        struct authorized a;
        bool good = authorized_parse(&a, "authorized.yaml", text, &says);

        must(a.n <= AUTHORIZED_MAX && (good || a.n == 0));
        for (size_t i = 0; i < a.n; i++)
                must(key_name_valid(a.keys[i].name) && a.keys[i].role <= ROLE_CONTROL &&
                     authorized_by_key(&a, a.keys[i].public) == &a.keys[i]);
        authorized_done(&a);
}

static void read_hosts(const char *text)
{
        struct hosts h;
        bool good = hosts_parse(&h, "hosts", text, &says);

        must(h.n <= HOSTS_MAX && (good || h.n == 0));
        for (size_t i = 0; i < h.n; i++)
                must(key_name_valid(h.list[i].name) && h.list[i].n_server >= 1 &&
                     h.list[i].n_server <= HW_SERVER_KEYS && !strncmp(h.list[i].endpoint, "tcp://", 6) &&
                     hosts_find(&h, h.list[i].name) == &h.list[i]);
        hosts_done(&h);
}

static void read_key(const uint8_t *data, size_t size)
{
        static const uint8_t nothing[KEY_BYTES];
        struct key_pair pair;
        struct error error;
        char path[64];
        int fd = memfd_create("key", MFD_CLOEXEC);

        must(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, data, size) == (ssize_t)size);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (key_pair_read(&pair, path, &error))
                must(key_name_valid(pair.name));
        else
                must(!memcmp(pair.secret, nothing, KEY_BYTES) && error.text[0]);
        (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;
        if (*data == 'Z')
                ask(data + 1, size - 1);
        else if (*data == 'K')
                read_key(data + 1, size - 1);
        else {
                char *text = strndup((const char *)data + 1, size - 1);
                must(text != NULL);
                (*data == 'A' ? read_authorized : read_hosts)(text);
                free(text);
        }
        return 0;
}
