/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/live.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/memory/sorted.h"

#define NOTES_MOST (UINT64_C(1) << 26)

/* Of struct elf_prstatus of Linux, 64 bits: offsets of pr_pid and pr_reg. */
#define STATUS_PID       32u
#define STATUS_REGISTERS 112u

struct core_segment {
        uint64_t start, end;
        uint64_t offset, in_file; /* where it is in the core file, and how much of it */
};

struct core_source {
        struct memory *memory; /* NULL: cannot be read */
        uint64_t size;
        bool tried;
};

/* ------------------------------------------------------------------------ reading */

/* What the program has not written is in its files. */
static bool read_from_file(struct core *c, uint64_t at, void *to, size_t n, size_t *ret_read)
{
        const struct mapping *m = program_mapping(&c->program, at);
        struct core_source *s = m && m->file && c->sources ? &c->sources[m->file - 1] : NULL;
        const struct file_opener opener = files_opener(&c->files);

        if (!s)
                return false;
        if (!s->tried) {
                s->tried = true;
                if (!opener.open(opener.ctx, c->program.files[m->file - 1], &s->memory, &s->size, NULL))
                        s->memory = NULL;
        }
        *ret_read = m->end - at < n ? (size_t)(m->end - at) : n;
        return s->memory && memory_read(s->memory, at - m->start + m->offset, to, *ret_read);
}

static bool read_core(void *ctx, uint64_t at, void *to, size_t n)
{
        struct core *c = ctx;
        uint8_t *out = to;

        while (n > 0) {
                const size_t i = sorted_range(c->segments, c->n_segments, sizeof(*c->segments), at);
                const struct core_segment *s = i < c->n_segments ? &c->segments[i] : NULL;
                const uint64_t from = s ? at - s->start : 0;
                size_t k;

                if (s && from < s->in_file) {
                        k = s->in_file - from < n ? (size_t)(s->in_file - from) : n;
                        if (!memory_read(c->elf.file, s->offset + from, out, k))
                                return false;
                } else if (!read_from_file(c, at, out, n, &k)) {
                        return false;
                }
                out += k;
                at += k;
                n -= k;
        }
        return true;
}

/* -------------------------------------------------------------------------- notes */

/* count, page size, then start, end and page of each mapping, then their paths. */
static bool name_mappings(struct core *c, const struct elf_note *n)
{
        const uint64_t count = n->size >= 16 ? u64_at(n->bytes, 0) : 0, page = n->size >= 16 ? u64_at(n->bytes, 8) : 0;

        if (count == 0 || count > n->size / 24 || 16 + count * 24 >= n->size || page == 0 || page > 1 << 30)
                return true;
        const char *path = (const char *)n->bytes + 16 + count * 24, *end = (const char *)n->bytes + n->size;
        for (size_t i = 0; i < count && path < end; i++) {
                const uint64_t start = u64_at(n->bytes, 16 + 24 * i), stop = u64_at(n->bytes, 24 + 24 * i);
                const uint64_t pages = u64_at(n->bytes, 32 + 24 * i);
                const size_t length = strnlen(path, (size_t)(end - path));
                struct mapping m = { .start = start, .end = stop, .offset = pages * page, .readable = true };

                if (path + length == end)
                        break;
                const uint32_t file = program_file(&c->program, path);
                bool known = false;
                for (size_t k = 0; file && k < c->program.n_mappings; k++) {
                        struct mapping *o = &c->program.mappings[k];
                        if (o->start < start || o->end > stop || o->file)
                                continue;
                        o->file = file;
                        o->offset = m.offset + (o->start - start);
                        known = true;
                }
                m.file = file;
                if (!file || (!known && start < stop && !program_add_mapping(&c->program, m)))
                        return error_set(NULL, "out of memory");
                path += length + 1;
        }
        return true;
}

static bool add_thread(struct core *c, const struct elf_note *n)
{
        uint64_t words[REGISTER_WORDS];
        size_t there = n->size > STATUS_REGISTERS ? n->size - STATUS_REGISTERS : 0;
        struct registers r;
        int32_t pid;

        if (there > sizeof(words))
                there = sizeof(words);
        if (there == 0)
                return true;
        memcpy(&pid, n->bytes + STATUS_PID, sizeof(pid));
        memcpy(words, n->bytes + STATUS_REGISTERS, there);
        if (!c->pid)
                c->pid = pid;
        return !registers_read(&r, c->elf.machine, pid, words, there / 8) || program_add_registers(&c->program, r);
}

static bool read_notes(struct core *c, const Elf64_Phdr *segment)
{
        uint8_t *notes = elf_file_bytes(&c->elf, segment->p_offset, segment->p_filesz, NOTES_MOST);
        struct elf_note n;
        size_t at = 0;
        bool good = true;

        while (notes && good && elf_note_next(notes, (size_t)segment->p_filesz, &at, &n)) {
                if (n.type == NT_FILE)
                        good = name_mappings(c, &n);
                else if (n.type == NT_PRSTATUS)
                        good = add_thread(c, &n);
                else if (n.type == NT_AUXV)
                        for (size_t i = 0; i + 1 < n.size / 8; i += 2)
                                if (u64_at(n.bytes, 8 * i) == AT_ENTRY)
                                        c->program.entry = u64_at(n.bytes, 8 * i + 8);
        }
        free(notes);
        return good;
}

/* --------------------------------------------------------------------------- open */

static bool add_segment(struct core *c, const Elf64_Phdr *p, uint32_t file)
{
        const uint64_t there = p->p_offset < c->elf.size ? c->elf.size - p->p_offset : 0;
        const uint64_t in_file = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;
        const struct mapping m = {
                .start = p->p_vaddr,
                .end = p->p_vaddr + p->p_memsz,
                .offset = p->p_offset,
                .file = file,
                .readable = (p->p_flags & PF_R) != 0,
                .writable = (p->p_flags & PF_W) != 0,
                .executable = (p->p_flags & PF_X) != 0,
        };

        if (m.start >= m.end)
                return true;
        c->segments[c->n_segments++] =
                (struct core_segment){ m.start, m.end, p->p_offset, in_file < there ? in_file : there };
        c->missing += in_file < there ? 0 : in_file - there;
        return program_add_mapping(&c->program, m);
}

/* `file`: of which all is, 0: the files are named in the core file. */
static bool load_segments(struct core *c, uint32_t file, struct error *error)
{
        const struct file_opener opener = files_opener(&c->files);
        bool good = (c->segments = calloc(c->elf.n_segments, sizeof(*c->segments))) != NULL;

        for (size_t i = 0; good && i < c->elf.n_segments; i++)
                if (c->elf.segments[i].p_type == PT_LOAD)
                        good = add_segment(c, &c->elf.segments[i], file);
        if (good && c->n_segments)
                qsort(c->segments, c->n_segments, sizeof(*c->segments), sorted_compare);
        for (size_t i = 0; good && !file && i < c->elf.n_segments; i++)
                if (c->elf.segments[i].p_type == PT_NOTE)
                        good = read_notes(c, &c->elf.segments[i]);
        if (good && c->program.n_files)
                good = (c->sources = calloc(c->program.n_files, sizeof(*c->sources))) != NULL;
        if (!good)
                return error_set(error, "out of memory");
        return program_load(&c->program, &opener, error);
}

static bool open_as(struct core *c, const char *path, bool is_core, struct error *error)
{
        struct error why = { "" };
        struct memory *file;
        uint64_t size;
        bool good;

        *c = (struct core){ .pid = 0 };
        c->memory = (struct memory){ .read = read_core, .ctx = c };
        c->program = (struct program){ .memory = &c->memory };
        c->files = (struct files){ .program = &c->program };
        good = files_open_unpacked(&c->files, path, &file, &size, &why) && elf_file_open(&c->elf, file, size, &why);
        if (good && is_core != (c->elf.type == ET_CORE))
                good = error_set(&why, is_core ? "it is not a core file" : "it is a core file, not a program");
        c->program.machine = c->elf.machine;
        good = good && load_segments(c, is_core ? 0 : program_file(&c->program, path), &why);
        if (!good) {
                (void)error_set(error, "%.400s: %s%.600s", path, c->missing ? "it is cut off; " : "", why.text);
                core_close(c);
        }
        return good;
}

bool core_open(struct core *c, const char *path, struct error *error)
{
        return open_as(c, path, true, error);
}

bool core_open_image(struct core *c, const char *path, struct error *error)
{
        return open_as(c, path, false, error);
}

void core_close(struct core *c)
{
        program_done(&c->program);
        elf_file_close(&c->elf);
        files_close(&c->files);
        memory_forget(&c->memory);
        free(c->segments);
        free(c->sources);
        c->segments = NULL;
        c->sources = NULL;
}
