/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the file is found among the descriptors of this process, by how it
 * begins, and opened once more, so that the program's position in it stays. With
 * several such files none is taken.
 */
#include "agent/logging.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/limits.h"
#include "agent/preamble.h"
#include "agent/queue.h"

#define NOT_JOINED "the program writes an eventlog itself, "

static const char header_begin[] = "hdrbhetb", header_end[] = "hetehdredatb";

static struct preamble found;

/* Opened for reading; -1 when it is not a log that is being written. */
static int open_log(int fd, struct stat *st)
{
        char path[64], begin[sizeof(header_begin) - 1];
        int flags = fcntl(fd, F_GETFL), log;

        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
                return -1;
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        log = open(path, O_RDONLY | O_CLOEXEC);
        if (log >= 0 && (pread(log, begin, sizeof(begin), 0) != (ssize_t)sizeof(begin) ||
                         memcmp(begin, header_begin, sizeof(begin)) != 0)) {
                (void)close(log);
                return -1;
        }
        return log;
}

/* The one log that this process writes; -1 with a sentence. */
static int find_log(struct error *error)
{
        DIR *d = opendir("/proc/self/fd");
        const struct dirent *e;
        struct stat st, first = { .st_ino = 0 };
        bool several = false;
        int log = -1;

        while (d && (e = readdir(d)) != NULL) {
                int other = e->d_name[0] == '.' ? -1 : open_log((int)strtol(e->d_name, NULL, 10), &st);
                if (other < 0)
                        continue;
                if (log < 0) {
                        log = other;
                        first = st;
                        continue;
                }
                several |= st.st_ino != first.st_ino || st.st_dev != first.st_dev;
                (void)close(other);
        }
        if (d)
                (void)closedir(d);
        if (log >= 0 && several) {
                (void)close(log);
                log = -1;
        }
        if (log < 0)
                (void)error_set(error, several ? NOT_JOINED "and has several open: watch the file"
                                               : NOT_JOINED "not to a file that can be read: watch where it writes");
        return log;
}

/* The header first, then whole blocks, as far as they are there. */
static bool parse_log(const uint8_t *bytes, size_t size)
{
        size_t most = size < AGENT_HEADER_BYTES ? size : AGENT_HEADER_BYTES;
        const uint8_t *end = memmem(bytes, most, header_end, sizeof(header_end) - 1);
        size_t header = end ? (size_t)(end - bytes) + sizeof(header_end) - 1 : 0;

        preamble_reset(&found);
        if (header == 0)
                return false;
        preamble_add(&found, bytes, header);
        preamble_add(&found, bytes + header, size - header);
        return found.header != NULL;
}

bool own_log_read(struct error *error)
{
        uint8_t *bytes = malloc(AGENT_OWN_LOG_BYTES);
        int log = bytes ? find_log(error) : -1;
        size_t size = 0;
        ssize_t n;

        while (log >= 0 && size < AGENT_OWN_LOG_BYTES &&
               (n = pread(log, bytes + size, AGENT_OWN_LOG_BYTES - size, (off_t)size)) > 0)
                size += (size_t)n;
        bool good = log >= 0 && (parse_log(bytes, size) || error_set(error, NOT_JOINED "whose header is not known"));
        if (log >= 0)
                (void)close(log);
        free(bytes);
        return good || (bytes == NULL && error_set(error, "out of memory"));
}

void own_log_begin(void)
{
        struct chunk *c = preamble_chunk(&found);

        (void)queue_push(CHUNK_START, NULL, 0, true);
        if (c) {
                (void)queue_push(CHUNK_LOG, c->bytes, found.header_size, true);
                (void)queue_push(CHUNK_LOG, c->bytes + found.header_size, c->size - found.header_size, true);
        }
        chunk_release(c);
        preamble_reset(&found);
}
