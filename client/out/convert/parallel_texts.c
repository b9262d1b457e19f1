/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the file is pieces of one size, each of one text; a text knows the numbers of its pieces. */
#include "client/out/convert/spool.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int file_error(void)
{
        return errno ? -errno : -EIO;
}

int parallel_texts_init(struct parallel_texts *s)
{
        *s = (struct parallel_texts){ .file = tmpfile() };
        return s->file ? 0 : -errno;
}

void parallel_texts_done(struct parallel_texts *s)
{
        if (s->file)
                (void)fclose(s->file); /* an unnamed file: errors do not matter any more */
        for (uint32_t i = 0; i < s->n; i++) {
                free(s->list[i].waiting);
                free(s->list[i].pieces);
        }
        free(s->list);
        *s = (struct parallel_texts){ .file = NULL };
}

int parallel_texts_add(struct parallel_texts *s)
{
        if (!ARRAY_RESERVE(s->list, s->room, s->n + 1))
                return -ENOMEM;
        s->list[s->n++] = (struct parallel_text){ .waiting = NULL };
        return 0;
}

/* The waiting bytes are a whole piece. */
static int put_piece(struct parallel_texts *s, struct parallel_text *t)
{
        if (!ARRAY_RESERVE_NEXT(t->pieces, t->n_pieces))
                return -ENOMEM;
        errno = 0;
        if (fwrite(t->waiting, 1, PARALLEL_TEXT_PIECE, s->file) != PARALLEL_TEXT_PIECE)
                return file_error();
        t->pieces[t->n_pieces++] = s->n_pieces++;
        t->used = 0;
        return 0;
}

static int make_room(struct parallel_text *t, size_t n)
{
        uint32_t room = t->room ? t->room : 128;

        while (room < PARALLEL_TEXT_PIECE && room < t->used + n)
                room *= 2;
        if (room == t->room)
                return 0;
        char *grown = realloc(t->waiting, room);
        if (!grown)
                return -ENOMEM;
        t->waiting = grown;
        t->room = room;
        return 0;
}

int parallel_texts_write(struct parallel_texts *s, uint32_t i, const char *text, size_t n)
{
        struct parallel_text *t = &s->list[i];

        while (n > 0) {
                int r = make_room(t, n);
                if (r)
                        return r;
                size_t some = n < t->room - t->used ? n : t->room - t->used;
                memcpy(t->waiting + t->used, text, some);
                t->used += (uint32_t)some;
                text += some;
                n -= some;
                if (t->used == PARALLEL_TEXT_PIECE && (r = put_piece(s, t)))
                        return r;
        }
        return 0;
}

int parallel_texts_print(struct parallel_texts *s, uint32_t i, FILE *to)
{
        const struct parallel_text *t = &s->list[i];
        char piece[PARALLEL_TEXT_PIECE];

        errno = 0;
        if (fflush(s->file) != 0)
                return file_error();
        for (uint32_t k = 0; k < t->n_pieces; k++) {
                if (fseeko(s->file, (off_t)(t->pieces[k] * PARALLEL_TEXT_PIECE), SEEK_SET) != 0 ||
                    fread(piece, 1, sizeof(piece), s->file) != sizeof(piece))
                        return file_error();
                (void)fwrite(piece, 1, sizeof(piece), to);
        }
        (void)fwrite(t->waiting, 1, t->used, to);
        return 0;
}
