/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: a row is its struct, then its ids, then its bytes, unencoded: only this process reads and writes them. */
#include "client/out/convert/spool.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_ROWS (1u << 24) /* of one census; far above the daemon's limits */

int spool_init(struct spool *s)
{
        *s = (struct spool){ .file = tmpfile() };
        return s->file ? 0 : -errno;
}

void spool_done(struct spool *s)
{
        if (s->file)
                (void)fclose(s->file); /* an unnamed file: errors do not matter any more */
        free(s->bands);
        free(s->band);
        free(s->bytes);
        *s = (struct spool){ .file = NULL };
}

static int file_error(void)
{
        return errno ? -errno : -EIO;
}

int spool_add(struct spool *s, const Hw__Census *c)
{
        struct spool_row row;

        memset(&row, 0, sizeof(row)); /* its padding goes to the file, too */
        row.time_ns = c->time_ns;
        row.total_bytes = c->total_bytes;
        row.left_out_bytes = c->bytes_left_out;
        row.n = (uint32_t)(c->n_band < c->n_bytes ? c->n_band : c->n_bytes);
        if (row.n > LIMIT_ROWS)
                return -E2BIG;
        for (uint32_t i = 0; i < row.n; i++) {
                if (!c->band[i])
                        continue;
                if (!(c->band[i] < LIMIT_ROWS && ARRAY_RESERVE_ZEROED(s->bands, s->n_bands, c->band[i])))
                        return -ENOMEM;
                struct spool_band *b = &s->bands[c->band[i] - 1];
                b->id = c->band[i];
                b->sum += (double)c->bytes[i];
                b->squares += (double)c->bytes[i] * (double)c->bytes[i];
                b->max_bytes = c->bytes[i] > b->max_bytes ? c->bytes[i] : b->max_bytes;
        }
        s->n_rows++;
        errno = 0;
        bool whole = fwrite(&row, sizeof(row), 1, s->file) == 1 &&
                     fwrite(c->band, sizeof(*c->band), row.n, s->file) == row.n &&
                     fwrite(c->bytes, sizeof(*c->bytes), row.n, s->file) == row.n;
        return whole ? 0 : file_error();
}

int spool_rewind(struct spool *s)
{
        errno = 0;
        return fflush(s->file) || fseek(s->file, 0, SEEK_SET) ? file_error() : 0;
}

static bool grow_row(struct spool *s, uint32_t n)
{
        if (n <= s->capacity)
                return true;
        uint32_t *band = realloc(s->band, n * sizeof(*band));
        if (band)
                s->band = band;
        uint64_t *bytes = band ? realloc(s->bytes, n * sizeof(*bytes)) : NULL;
        if (!bytes)
                return false;
        s->bytes = bytes;
        s->capacity = n;
        return true;
}

int spool_next(struct spool *s, struct spool_row *ret_row)
{
        errno = 0;
        if (fread(ret_row, sizeof(*ret_row), 1, s->file) != 1)
                return feof(s->file) ? 0 : file_error();
        if (!grow_row(s, ret_row->n))
                return -ENOMEM;
        bool whole = fread(s->band, sizeof(*s->band), ret_row->n, s->file) == ret_row->n &&
                     fread(s->bytes, sizeof(*s->bytes), ret_row->n, s->file) == ret_row->n;
        return whole ? 1 : file_error();
}

static int by_sum(const void *a, const void *b)
{
        const struct spool_band *x = *(const struct spool_band *const *)a, *y = *(const struct spool_band *const *)b;

        if (x->sum != y->sum)
                return x->sum < y->sum ? 1 : -1;
        return x->id < y->id ? -1 : 1;
}

ssize_t spool_largest(const struct spool *s, uint32_t *ids, size_t max)
{
        const struct spool_band **order = malloc((s->n_bands + 1) * sizeof(*order));
        size_t n = 0;

        if (!order)
                return -ENOMEM;
        for (uint32_t i = 0; i < s->n_bands; i++)
                if (s->bands[i].id)
                        order[n++] = &s->bands[i];
        qsort(order, n, sizeof(*order), by_sum);
        n = n < max ? n : max;
        for (size_t i = 0; i < n; i++)
                ids[i] = order[i]->id;
        free(order);
        return (ssize_t)n;
}
