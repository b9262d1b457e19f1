/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: concatenated protobuf messages are one message with all their fields. So each sample is packed by itself,
 * with the texts, functions and locations that it is the first to use, and goes to gzip: only those tables are kept.
 */
#include "client/convert/pprof_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "client/convert/frames.h"
#include "client/convert/moment.h"
#include "client/convert/pprof.pb-c.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"

#define VALUES  2
#define MOST    INT64_MAX
#define NEW_MAX (FRAMES_DEEP * 2 + 16) /* texts that one piece may add */

struct pprof_file {
        FILE *out;
        gzFile gz;
        uint64_t samples;
        struct frames frames; /* number n is location n and function n */
        char **texts;         /* by index */
        uint32_t n_texts, texts_room;
        struct idtable text_ids; /* index + 1 */
        char *fresh[NEW_MAX];    /* texts of the current piece, borrowed from `texts` */
        size_t n_fresh;
};

/* -------------------------------------------------------------------- texts */

/* The index of a text, or -1 when out of memory. */
static int64_t text_index(struct pprof_file *p, const char *text)
{
        uint64_t hash = hash_text(text, 0);
        uint32_t at = idtable_start(&p->text_ids, hash), id;

        while ((id = idtable_next(&p->text_ids, hash, &at)))
                if (!strcmp(p->texts[id - 1], text))
                        return id - 1;
        if (!ARRAY_RESERVE(p->texts, p->texts_room, p->n_texts + 1))
                return -1;
        char *copy = p->n_fresh < NEW_MAX ? strdup(text) : NULL;
        if (!copy || idtable_add(&p->text_ids, hash, p->n_texts + 1)) {
                free(copy);
                return -1;
        }
        p->fresh[p->n_fresh++] = copy;
        p->texts[p->n_texts] = copy;
        return p->n_texts++;
}

/* ------------------------------------------------------------------- pieces */

/* Opened for the first piece: even an empty stream of gzip has bytes. 0 or -errno. */
static int need_gz(struct pprof_file *p)
{
        int fd = p->gz ? -1 : dup(fileno(p->out));

        if (p->gz)
                return 0;
        if (fd < 0)
                return -errno;
        p->gz = gzdopen(fd, "w");
        if (p->gz)
                return 0;
        (void)close(fd);
        return -ENOMEM;
}

/* Packs a piece with the texts that are new in it. 0 or -errno. */
static int put_piece(struct pprof_file *p, Pprof__Profile *piece)
{
        piece->string_table = p->fresh;
        piece->n_string_table = p->n_fresh;
        size_t size = pprof__profile__get_packed_size(piece);
        uint8_t *bytes = malloc(size ? size : 1);
        if (!bytes)
                return -ENOMEM;
        int r = need_gz(p);
        if (r) {
                free(bytes);
                return r;
        }
        (void)pprof__profile__pack(piece, bytes);
        errno = 0;
        bool whole = size == 0 || gzwrite(p->gz, bytes, (unsigned)size) == (int)size;
        free(bytes);
        p->n_fresh = 0;
        return whole ? 0 : errno ? -errno : -EIO;
}

/* The location and function of a frame that is used for the first time. */
struct definition {
        Pprof__Location location;
        Pprof__Line line, *line_at;
        Pprof__Function function;
};

static bool write_definition(struct pprof_file *p, struct definition *d, uint32_t number)
{
        const struct code_place *f = &p->frames.frames[number - 1];
        int64_t name = text_index(p, f->name), file = f->file ? text_index(p, f->file) : 0;

        *d = (struct definition){ .location = PPROF__LOCATION__INIT,
                                  .line = PPROF__LINE__INIT,
                                  .function = PPROF__FUNCTION__INIT };
        d->line_at = &d->line;
        d->location.has_id = d->function.has_id = d->line.has_function_id = true;
        d->location.id = d->function.id = d->line.function_id = number;
        d->location.line = &d->line_at;
        d->location.n_line = 1;
        d->line.has_line = d->function.has_start_line = f->line > 0;
        d->line.line = d->function.start_line = f->line;
        d->function.has_name = d->function.has_system_name = true;
        d->function.name = d->function.system_name = name;
        d->function.has_filename = f->file != NULL;
        d->function.filename = file;
        return name >= 0 && file >= 0;
}

int pprof_file_head(struct pprof_file *p, const struct world_target *t, bool time, uint64_t at_ns, uint64_t duration_ns)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        bool ticks = time && run && run->has_tick_interval_ns && run->tick_interval_ns;
        Pprof__ValueType types[VALUES] = { PPROF__VALUE_TYPE__INIT, PPROF__VALUE_TYPE__INIT }, *list[VALUES],
                         period = PPROF__VALUE_TYPE__INIT;
        const char *names[VALUES][2] = { { "samples", "count" }, { "cpu", "nanoseconds" } };
        Pprof__Profile piece = PPROF__PROFILE__INIT;

        if (!time) {
                names[0][0] = "inuse_space";
                names[0][1] = "bytes";
        }
        bool whole = text_index(p, "") == 0;
        piece.n_sample_type = ticks ? 2 : 1;
        piece.sample_type = list;
        for (size_t i = 0; i < piece.n_sample_type; i++) {
                list[i] = &types[i];
                types[i].has_type = types[i].has_unit = true;
                types[i].type = text_index(p, names[i][0]);
                types[i].unit = text_index(p, names[i][1]);
                whole &= types[i].type > 0 && types[i].unit > 0;
        }
        if (run && run->has_start_wall_ns && run->start_wall_ns <= (uint64_t)MOST - at_ns) {
                piece.has_time_nanos = true;
                piece.time_nanos = (int64_t)(run->start_wall_ns + at_ns);
        }
        piece.has_duration_nanos = duration_ns > 0;
        piece.duration_nanos = (int64_t)duration_ns;
        if (ticks) {
                period = types[1];
                piece.period_type = &period;
                piece.has_period = true;
                piece.period = (int64_t)run->tick_interval_ns;
        }
        int64_t program = run && run->program ? text_index(p, run->program) : 0;
        piece.comment = &program;
        piece.n_comment = program > 0;
        return whole ? put_piece(p, &piece) : -ENOMEM;
}

/* A sample of `n` frames with its values; the first `known` frames are already defined. `time_ns` UINT64_MAX: none. */
static int put_sample(struct pprof_file *p, uint32_t known, const uint32_t *numbers, size_t n, const int64_t *values,
                      size_t n_values, uint64_t time_ns)
{
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
        Pprof__Label label = PPROF__LABEL__INIT, *labels = &label;
        size_t fresh = p->frames.n - known;
        struct definition *d = calloc(fresh + 1, sizeof(*d));
        Pprof__Location **locations = calloc(fresh + 1, sizeof(void *));
        Pprof__Function **functions = calloc(fresh + 1, sizeof(void *));
        uint64_t *ids = calloc(n, sizeof(*ids));
        bool whole = d && locations && functions && ids;

        for (size_t i = 0; whole && i < fresh; i++) {
                whole = write_definition(p, &d[i], known + (uint32_t)i + 1);
                locations[i] = &d[i].location;
                functions[i] = &d[i].function;
        }
        for (size_t i = 0; whole && i < n; i++)
                ids[i] = numbers[i];
        sample.location_id = ids;
        sample.n_location_id = n;
        sample.value = (int64_t *)values;
        sample.n_value = n_values;
        if (whole && time_ns != UINT64_MAX) {
                label.has_key = label.has_num = label.has_num_unit = true;
                label.key = text_index(p, "time");
                label.num_unit = text_index(p, "nanoseconds");
                label.num = (int64_t)time_ns;
                whole = label.key > 0 && label.num_unit > 0;
                sample.label = &labels;
                sample.n_label = 1;
        }
        piece.sample = &samples;
        piece.n_sample = 1;
        piece.location = locations;
        piece.n_location = fresh;
        piece.function = functions;
        piece.n_function = fresh;
        int r = whole ? put_piece(p, &piece) : -ENOMEM;
        p->samples++;
        free(d);
        free(locations);
        free(functions);
        free(ids);
        return r;
}

/* ----------------------------------------------------------------- profiles */

int pprof_file_census(struct pprof_file *p, const struct world_target *t, const Hw__Census *c, uint64_t label_ns)
{
        uint32_t numbers[FRAMES_DEEP];
        int r = 0;

        for (size_t i = 0; i < c->n_band && i < c->n_bytes && r == 0; i++) {
                const Hw__Band *band = band_of(t, c->band[i]);
                uint32_t known = p->frames.n;
                size_t n = band ? frames_of_band(&p->frames, band, numbers, FRAMES_DEEP) : 0;
                int64_t bytes = c->bytes[i] < (uint64_t)MOST ? (int64_t)c->bytes[i] : MOST;
                if (!band || bytes == 0)
                        continue;
                r = n ? put_sample(p, known, numbers, n, &bytes, 1, label_ns) : -ENOMEM;
        }
        return r;
}

int pprof_file_time(struct pprof_file *p, const struct world_target *t, const uint64_t *before, size_t n_before)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        uint64_t tick_ns = run && run->has_tick_interval_ns ? run->tick_interval_ns : 0;
        uint32_t numbers[FRAMES_DEEP];
        int r = 0;

        for (uint32_t i = 0; i < t->n_stacks && r == 0; i++) {
                const Hw__Stack *s = t->stacks[i];
                uint64_t known_ticks = i < n_before ? before[i] : 0;
                uint32_t known = p->frames.n;
                if (!s || (before && s->ticks <= known_ticks))
                        continue;
                uint64_t ticks = s->ticks - known_ticks;
                int64_t values[VALUES] = { (int64_t)ticks, (int64_t)(ticks * tick_ns) };
                size_t n = frames_of_stack(&p->frames, s->centres, s->n_centres, numbers, FRAMES_DEEP);
                r = n ? put_sample(p, known, numbers, n, values, tick_ns ? 2 : 1, UINT64_MAX) : -ENOMEM;
        }
        return r;
}

/* --------------------------------------------------------------------- life */

struct pprof_file *pprof_file_new(FILE *out)
{
        struct pprof_file *p = calloc(1, sizeof(*p));

        if (p)
                p->out = out;
        return p;
}

void pprof_file_destroy(struct pprof_file **pp)
{
        struct pprof_file *p = *pp;

        *pp = NULL;
        if (!p)
                return;
        if (p->gz)
                (void)gzclose(p->gz); /* after an error; pprof_file_close closes a complete file */
        frames_done(&p->frames);
        for (uint32_t i = 0; i < p->n_texts; i++)
                free(p->texts[i]);
        free(p->texts);
        idtable_done(&p->text_ids);
        free(p);
}

uint64_t pprof_file_samples(const struct pprof_file *p)
{
        return p->samples;
}

int pprof_file_close(struct pprof_file *p)
{
        gzFile gz = p->gz;

        p->gz = NULL;
        errno = 0;
        if (gz && gzclose(gz) != Z_OK)
                return errno ? -errno : -EIO;
        return 0;
}
