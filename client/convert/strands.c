/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the file is pieces of one size, each of one text; a text knows the numbers of its pieces. */
#include "client/convert/strands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int file_error(void)
{
        return errno ? -errno : -EIO;
}

int strands_init(struct strands *s)
{
        *s = (struct strands){ .file = tmpfile() };
        return s->file ? 0 : -errno;
}

void strands_done(struct strands *s)
{
        if (s->file)
                (void)fclose(s->file); /* an unnamed file: errors do not matter any more */
        for (uint32_t i = 0; i < s->n; i++) {
                free(s->list[i].waiting);
                free(s->list[i].pieces);
        }
        free(s->list);
        *s = (struct strands){ .file = NULL };
}

int strands_add(struct strands *s)
{
        if (s->n == s->room) {
                uint32_t room = s->room ? s->room * 2 : 256;
                struct strand *grown = realloc(s->list, room * sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                s->list = grown;
                s->room = room;
        }
        s->list[s->n++] = (struct strand){ .waiting = NULL };
        return 0;
}

/* The waiting bytes are a whole piece. Room for numbers doubles at each power of two. */
static int put_piece(struct strands *s, struct strand *t)
{
        if ((t->n_pieces & (t->n_pieces - 1)) == 0) {
                uint64_t *grown = realloc(t->pieces, (t->n_pieces ? t->n_pieces * (size_t)2 : 1) * sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                t->pieces = grown;
        }
        errno = 0;
        if (fwrite(t->waiting, 1, STRAND_PIECE, s->file) != STRAND_PIECE)
                return file_error();
        t->pieces[t->n_pieces++] = s->n_pieces++;
        t->used = 0;
        return 0;
}

static int make_room(struct strand *t, size_t n)
{
        uint32_t room = t->room ? t->room : 128;

        while (room < STRAND_PIECE && room < t->used + n)
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

int strands_write(struct strands *s, uint32_t i, const char *text, size_t n)
{
        struct strand *t = &s->list[i];

        while (n > 0) {
                int r = make_room(t, n);
                if (r)
                        return r;
                size_t some = n < t->room - t->used ? n : t->room - t->used;
                memcpy(t->waiting + t->used, text, some);
                t->used += (uint32_t)some;
                text += some;
                n -= some;
                if (t->used == STRAND_PIECE && (r = put_piece(s, t)))
                        return r;
        }
        return 0;
}

int strands_print(struct strands *s, uint32_t i, FILE *to)
{
        const struct strand *t = &s->list[i];
        char piece[STRAND_PIECE];

        errno = 0;
        if (fflush(s->file) != 0)
                return file_error();
        for (uint32_t k = 0; k < t->n_pieces; k++) {
                if (fseeko(s->file, (off_t)(t->pieces[k] * STRAND_PIECE), SEEK_SET) != 0 ||
                    fread(piece, 1, sizeof(piece), s->file) != sizeof(piece))
                        return file_error();
                (void)fwrite(piece, 1, sizeof(piece), to);
        }
        (void)fwrite(t->waiting, 1, t->used, to);
        return 0;
}
