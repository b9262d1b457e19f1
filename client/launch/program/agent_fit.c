/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launch/program/agent_fit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/symbols.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/sibling.h"
#include "proto/base/text_out.h"
#include "proto/base/whole_file.h"

#define LIBRARY AGENT_LIBRARY ".so"

/*
 * Where `head` directly followed by `tail` is; NULL. Split, so that this program's own file does not have the
 * text.
 */
static const uint8_t *find_between(const void *image, size_t size, const char *head, const char *tail)
{
        char text[32];

        snprintf(text, sizeof(text), "%s%s", head, tail);
        return memmem(image, size, text, strlen(text));
}

/* Program headers of a file, one after another. */
struct parts {
        const uint8_t *image;
        size_t size;
        ElfW(Ehdr) header;
};

static bool read_parts(const uint8_t *image, size_t size, struct parts *ret)
{
        *ret = (struct parts){ .image = image, .size = size };
        if (size < sizeof(ret->header))
                return false;
        memcpy(&ret->header, image, sizeof(ret->header));
        return memcmp(ret->header.e_ident, ELFMAG, SELFMAG) == 0 && ret->header.e_phentsize == sizeof(ElfW(Phdr));
}

/* The next one of that type from *at on, which is moved behind it. */
static bool next_part(const struct parts *p, uint32_t type, size_t *at, ElfW(Phdr) * ret)
{
        while (*at < p->header.e_phnum) {
                const uint64_t offset = p->header.e_phoff + (*at)++ * sizeof(*ret);
                if (offset > p->size || p->size - offset < sizeof(*ret))
                        return false;
                memcpy(ret, p->image + offset, sizeof(*ret));
                if (ret->p_type == type)
                        return true;
        }
        return false;
}

/* The text at an address of the running program, in the file; NULL when it is not whole there. */
static const char *text_at(const struct parts *p, uint64_t address)
{
        ElfW(Phdr) part;
        size_t at = 0;

        while (next_part(p, PT_LOAD, &at, &part)) {
                if (address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz)
                        continue;
                const uint64_t offset = part.p_offset + (address - part.p_vaddr);
                return offset < p->size && memchr(p->image + offset, '\0', p->size - offset)
                               ? (const char *)p->image + offset
                               : NULL;
        }
        return NULL;
}

/* Whether one of the libraries that it names as needed is GHC's runtime. */
static bool needs_runtime(const uint8_t *image, size_t size)
{
        static const char package[] = "libHS", runtime[] = "rts"; /* apart, as in contains_between() */
        struct parts p;
        ElfW(Phdr) dynamic;
        ElfW(Dyn) entry;
        uint64_t names = 0;
        size_t at = 0;

        if (!read_parts(image, size, &p) || !next_part(&p, PT_DYNAMIC, &at, &dynamic) || dynamic.p_offset > size ||
            size - dynamic.p_offset < dynamic.p_filesz)
                return false;
        for (int pass = 0; pass < 2; pass++) /* where the names are, then which */
                for (size_t i = 0; i + sizeof(entry) <= dynamic.p_filesz; i += sizeof(entry)) {
                        memcpy(&entry, image + dynamic.p_offset + i, sizeof(entry));
                        if (entry.d_tag == DT_STRTAB)
                                names = entry.d_un.d_ptr;
                        const char *name =
                                pass == 1 && entry.d_tag == DT_NEEDED ? text_at(&p, names + entry.d_un.d_val) : NULL;
                        if (name && !strncmp(name, package, sizeof(package) - 1) &&
                            !strncmp(name + sizeof(package) - 1, runtime, sizeof(runtime) - 1))
                                return true;
                }
        return false;
}

/* ------------------------------------------------------------------ version */

/* The length of a version such as 9.0.2 or 9.10.3.1 at the beginning of these bytes; 0: there is none. */
static size_t version_length(const uint8_t *at, size_t size)
{
        size_t n = 0, dots = 0;

        while (n < size && n < 20 && ((at[n] >= '0' && at[n] <= '9') || at[n] == '.'))
                dots += at[n++] == '.';
        if (n > 0 && at[n - 1] == '.') { /* "9.0.2.so" */
                n--;
                dots--;
        }
        return dots >= 2 && at[0] != '.' ? n : 0;
}

static bool copy_version(const uint8_t *at, size_t n, char *ret, size_t size)
{
        return (size_t)snprintf(ret, size, "%.*s", (int)n, (const char *)at) < size;
}

/* A text of its own just before the message that names it: the compiler keeps a file's texts together. */
static bool version_near_message(const uint8_t *image, size_t size, char *ret, size_t ret_size)
{
        const uint8_t *message = find_between(image, size, "(GHC version", " %s for %s)");
        const size_t before = message ? (size_t)(message - image) : 0, from = before > 8192 ? before - 8192 : 0;

        for (size_t i = before; i > from + 1; i--) {
                const size_t n = version_length(image + i, before - i);
                if (n > 0 && image[i - 1] == '\0' && image[i + n] == '\0')
                        return copy_version(image + i, n, ret, ret_size);
        }
        return false;
}

/* In the names of the folders and libraries of the packages that it was built with; all name the same. */
static bool version_of_packages(const uint8_t *image, size_t size, char *ret, size_t ret_size)
{
        static const char mark[] = "-ghc";
        const uint8_t *at = image, *first = NULL;
        size_t n = 0;

        while ((at = memmem(at, size - (size_t)(at - image), mark, sizeof(mark) - 1)) != NULL) {
                at += sizeof(mark) - 1;
                const size_t left = size - (size_t)(at - image), dash = left > 0 && *at == '-';
                const size_t length = version_length(at + dash, left - dash);
                if (length == 0)
                        continue;
                if (first && (length != n || memcmp(first, at + dash, n) != 0))
                        return false;
                first = at + dash;
                n = length;
        }
        return first && copy_version(first, n, ret, ret_size);
}

/* "thr_l": of the ways in which GHC's runtime is built. */
static bool is_way(const uint8_t *text, size_t n)
{
        static const char *const parts[] = { "v", "thr", "l", "p", "debug", "dyn" };

        for (size_t at = 0, length; at < n; at += length + 1) {
                const uint8_t *end = memchr(text + at, '_', n - at);
                size_t i = 0;
                length = end ? (size_t)(end - text) - at : n - at;
                while (i < ARRAY_SIZE(parts) &&
                       (strlen(parts[i]) != length || memcmp(parts[i], text + at, length) != 0))
                        i++;
                if (i == ARRAY_SIZE(parts))
                        return false;
        }
        return n > 0;
}

/* In the runtime's words about itself: "rts_thr_l", as a text of its own. */
static void find_way(const uint8_t *image, size_t size, char *ret, size_t ret_size)
{
        static const char head[] = "\0rts_";
        const uint8_t *at = image, *end = image + size;

        ret[0] = '\0';
        while ((at = memmem(at, (size_t)(end - at), head, sizeof(head) - 1)) != NULL) {
                size_t n = 0;
                at += sizeof(head) - 1;
                while (at + n < end && ((at[n] >= 'a' && at[n] <= 'z') || at[n] == '_'))
                        n++;
                if (n < ret_size && at + n < end && at[n] == '\0' && is_way(at, n)) {
                        memcpy(ret, at, n);
                        ret[n] = '\0';
                        return;
                }
        }
}

static void check_image(const void *image, size_t size, struct agent_fit *f, struct error *error)
{
        struct parts parts;
        ElfW(Phdr) part;
        size_t at = 0;

        memset(&rts, 0, sizeof(rts));
        (void)symbols_scan(image, size, 0);
        f->stripped = !rts.end_init_elapsed.address || !rts.rts_shutdown.address || !rts.setupRtsFlags.address;
        f->loader = read_parts(image, size, &parts) && next_part(&parts, PT_INTERP, &at, &part);
        f->ghc = rts.defaultRtsConfig.address || symbols_have_runtime(image, size) ||
                 find_between(image, size, "libHS", "rts");
        if (!f->ghc) { /* nothing else is asked of a browser of 300 MB */
                (void)error_set(error, "%s", obstacle_reason(f->obstacle));
                return;
        }
        if (!symbols_ghc_version(image, size, f->version, sizeof(f->version)) &&
            !version_near_message(image, size, f->version, sizeof(f->version)) &&
            !version_of_packages(image, size, f->version, sizeof(f->version)))
                f->version[0] = '\0';
        if (f->stripped)
                find_way(image, size, f->way, sizeof(f->way));
        f->threaded = f->stripped ? !strncmp(f->way, "thr", 3) : rts.pending_sync.address != NULL;
        f->tables = find_between(image, size, "_ipe", "_buf");
        f->agent = find_between(image, size, "heapwatch_agent", "_attach");
        f->eventlog = rts.startEventLogging.address && rts.TRACE_gc.address;
        f->shared_runtime = f->stripped && needs_runtime(image, size);
        f->obstacle = obstacle_of(f);
        f->fits = f->obstacle == OBSTACLE_NONE;
        if (!f->fits)
                (void)error_set(error, "%s", obstacle_reason(f->obstacle));
}

/* Root may attach to such a program all the same. */
static bool is_privileged(int fd, const struct stat *st)
{
        return geteuid() != 0 && ((st->st_mode & S_ISUID && st->st_uid != geteuid()) ||
                                  (st->st_mode & S_ISGID && st->st_gid != getegid()) ||
                                  fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

/* Takes the descriptor. */
static bool check_descriptor(int fd, struct agent_fit *ret, struct error *error)
{
        struct stat st;
        void *image = MAP_FAILED;

        *ret = (struct agent_fit){ .version = "", .obstacle = OBSTACLE_NOT_GHC };
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
                image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                ret->privileged = is_privileged(fd, &st);
        }
        close_fd(&fd);
        if (image == MAP_FAILED)
                return false;
        check_image(image, (size_t)st.st_size, ret, error);
        (void)munmap(image, (size_t)st.st_size);
        return true;
}

bool agent_fit_check(const char *path, struct agent_fit *ret, struct error *error)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* it may be a FIFO */

        return check_descriptor(fd, ret, error) || error_set(error, "cannot read %s: %s", path, strerror(errno));
}

bool agent_fit_check_loaded(pid_t pid, struct agent_fit *ret)
{
        struct agent_fit runtime;
        char name[16]; /* in no file of ours, as in contains_between() */

        (void)text_join(name, sizeof(name), "/libHS", "rts", NULL);
        if (!check_descriptor(mapped_file_open_named(pid, name), &runtime, NULL) || !runtime.ghc)
                return false;
        runtime.shared_runtime = true;
        runtime.fits = false;
        runtime.obstacle = OBSTACLE_LOADED_RUNTIME;
        *ret = runtime;
        return true;
}

bool agent_fit_library(char *ret, size_t size, struct error *error)
{
        static const char *const places[] = { LIBRARY, "../lib/" LIBRARY, "../lib/heapwatch/" LIBRARY };
        char found[PATH_MAX];

        for (size_t i = 0; i < ARRAY_SIZE(places); i++)
                if (sibling_file(places[i], ret, size) && realpath(ret, found))
                        return (size_t)snprintf(ret, size, "%s", found) < size ||
                               error_set(error, "the path of " LIBRARY " is too long");
        return error_set(error,
                         LIBRARY " is not beside this program nor in ../lib: install the package libheapwatch-agent");
}
