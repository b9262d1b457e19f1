/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/program/agent_fit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/symbols.h"

#define LIBRARY "libheapwatch-agent.so"

/*
 * Whether `head` directly followed by `tail` is there. Split, so that this program's own file does not have the
 * text.
 */
static bool has(const void *image, size_t size, const char *head, const char *tail)
{
        char text[32];

        snprintf(text, sizeof(text), "%s%s", head, tail);
        return memmem(image, size, text, strlen(text)) != NULL;
}

static bool has_loader(const uint8_t *image, size_t size)
{
        ElfW(Ehdr) header;
        ElfW(Phdr) part;

        if (size < sizeof(header))
                return false;
        memcpy(&header, image, sizeof(header));
        if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(part))
                return false;
        for (size_t i = 0; i < header.e_phnum; i++) {
                uint64_t at = header.e_phoff + i * sizeof(part);
                if (at > size || size - at < sizeof(part))
                        return false;
                memcpy(&part, image + at, sizeof(part));
                if (part.p_type == PT_INTERP)
                        return true;
        }
        return false;
}

static void look(const void *image, size_t size, struct agent_fit *f, struct error *error)
{
        memset(&rts, 0, sizeof(rts));
        (void)symbols_scan(image, size, 0);
        if (!symbols_ghc_version(image, size, f->version, sizeof(f->version)))
                f->version[0] = '\0';
        f->stripped = !rts.end_init_elapsed.address || !rts.rts_shutdown.address || !rts.setupRtsFlags.address;
        f->ghc = rts.defaultRtsConfig.address || symbols_have_runtime(image, size) || has(image, size, "libHS", "rts");
        f->threaded = f->stripped ? has(image, size, "rts", "_thr") : rts.pending_sync.address != NULL;
        f->tables = has(image, size, "_ipe", "_buf");
        f->agent = has(image, size, "heapwatch_agent", "_attach");
        f->loader = has_loader(image, size);
        f->eventlog = rts.startEventLogging.address && rts.TRACE_gc.address;
        if (!f->ghc)
                (void)error_set(error, "it is not a GHC-compiled program");
        else if (f->stripped)
                (void)error_set(error,
                                "it is stripped, or its runtime is a shared library: the runtime's variables "
                                "cannot be found");
        else if (!f->eventlog && strncmp(f->version, "9.0.", 4) != 0)
                (void)error_set(error, "its runtime has no eventlog: link it with -eventlog");
        else
                f->fits = true;
}

bool agent_fit_look(const char *path, struct agent_fit *ret, struct error *error)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        void *image = MAP_FAILED;

        *ret = (struct agent_fit){ .version = "" };
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
                image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (fd >= 0)
                (void)close(fd);
        if (image == MAP_FAILED)
                return error_set(error, "cannot read %s: %s", path, strerror(errno));
        look(image, (size_t)st.st_size, ret, error);
        (void)munmap(image, (size_t)st.st_size);
        return true;
}

bool agent_fit_library(char *ret, size_t size)
{
        static const char *const places[] = { "", "../lib/", "../lib/heapwatch/" };
        char self[4096];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        if (n <= 0)
                return false;
        self[n] = '\0';
        *strrchr(self, '/') = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
                if ((size_t)snprintf(ret, size, "%s/%s" LIBRARY, self, places[i]) < size && access(ret, R_OK) == 0)
                        return true;
        return false;
}
