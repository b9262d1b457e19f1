/* SPDX-License-Identifier: BSD-3-Clause */
/* make_log - a long eventlog made from a short one (repeat.h): make_log IN OUT TIMES */
#include <stdio.h>

#include "tests/bench/repeat.h"

static void die(const char *what)
{
        perror(what);
        exit(2);
}

static uint8_t *read_all(const char *path, size_t *ret_size)
{
        FILE *f = fopen(path, "rb");

        if (!f || fseek(f, 0, SEEK_END) != 0)
                die(path);
        *ret_size = (size_t)ftell(f);
        rewind(f);
        uint8_t *bytes = malloc(*ret_size + 1);
        if (!bytes || fread(bytes, 1, *ret_size, f) != *ret_size)
                die(path);
        fclose(f);
        return bytes;
}

int main(int argc, char **argv)
{
        unsigned long times = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
        struct repeat r;
        size_t size;

        if (times == 0) {
                fprintf(stderr, "usage: make_log IN OUT TIMES\n");
                return 2;
        }
        uint8_t *bytes = read_all(argv[1], &size);
        if (!repeat_init(&r, bytes, size))
                die("memory");
        FILE *out = fopen(argv[2], "wb");
        if (!out || fwrite(r.bytes, 1, r.first, out) != r.first)
                die(argv[2]);
        for (unsigned long i = 0; i < times; i++) {
                if (fwrite(r.bytes + r.first, 1, r.end - r.first, out) != r.end - r.first)
                        die(argv[2]);
                repeat_shift(&r);
        }
        if (fwrite("\xff\xff", 1, 2, out) != 2 || fclose(out) != 0)
                die(argv[2]);
        repeat_done(&r);
        free(bytes);
        return 0;
}
