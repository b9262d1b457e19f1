/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one hunk a file, from three lines before its first insertion to three after the last. What is between them is
 * context: it makes the patch longer, and no line has to be counted twice.
 */
#include "client/commands/doctor.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/ckd.h"

#define CONTEXT 3u

static bool is_text(const char *text)
{
        for (; *text; text++)
                if ((unsigned char)*text < ' ' && *text != '\t' && *text != '\r')
                        return false;
        return true;
}

bool patch_can_have(const struct patched_file *f)
{
        for (size_t i = 0; i < f->n; i++)
                if (!is_text(f->lines[i]))
                        return false;
        return is_text(f->path) && f->path[0] != '/' && !strpbrk(f->path, "\t\r\"\\");
}

static size_t lines_of(const char *text)
{
        size_t n = 1;

        for (; *text; text++)
                n += *text == '\n';
        return n;
}

/* `ending`: of the line before, "\r" in a file whose lines end with it. */
static void print_insertion(const struct insertion *in, const char *ending)
{
        const char *text = in->text;

        for (size_t n;; text += n + 1) {
                n = strcspn(text, "\n");
                printf("+%.*s%.*s%s\n", (int)in->columns, in->indent, (int)(n - in->strip), text + in->strip, ending);
                if (!text[n])
                        return;
        }
}

static void print_name(const char *which, const char *path)
{
        printf("%s/%s%s\n", which, path, strchr(path, ' ') ? "\t" : ""); /* as diff ends a name with a space */
}

static void print_last(const struct patched_file *f, bool changes)
{
        const char *last = f->lines[f->n - 1];

        printf("%c%s\n", changes ? '-' : ' ', last);
        if (f->cut)
                puts("\\ No newline at end of file");
        if (changes)
                printf("+%s\n", last);
}

void patch_print(const struct patched_file *f, const struct insertion *insertions, size_t n)
{
        const size_t first = sub_sat(insertions[0].after, CONTEXT), last = insertions[n - 1].after;
        const size_t end = f->n - last < CONTEXT ? f->n : last + CONTEXT; /* lines before it are in the hunk */
        size_t added = 0;

        for (size_t i = 0; i < n; i++)
                added += lines_of(insertions[i].text);
        print_name("--- a", f->path);
        print_name("+++ b", f->path);
        printf("@@ -%zu,%zu +%zu,%zu @@\n", first + 1, end - first, first + 1, end - first + added);
        for (size_t i = first, next = 0; i < end; i++) {
                const size_t length = strlen(f->lines[i]);
                if (i + 1 < f->n)
                        printf(" %s\n", f->lines[i]);
                else
                        print_last(f, f->cut && insertions[n - 1].after == f->n);
                for (; next < n && insertions[next].after == i + 1; next++)
                        print_insertion(&insertions[next], length && f->lines[i][length - 1] == '\r' ? "\r" : "");
        }
}
