/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain and compressed logs give the same bytes; cut or damaged ones give what can be read, and say so. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "proto/eventlog/archive/log_file.h"

#define BYTES 300000u

static char path[] = "/tmp/hw-archive-XXXXXX";
static uint8_t plain[BYTES], packed[2 * BYTES], got[2 * BYTES];

static void write_file(const void *bytes, size_t n)
{
        FILE *f = fopen(path, "we");

        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, n, f), n);
        assert_int_equal(fclose(f), 0);
}

static size_t pack_gzip(void *out, size_t room, const void *bytes, size_t n)
{
        z_stream z = { .next_in = (void *)bytes, .avail_in = (uInt)n, .next_out = out, .avail_out = (uInt)room };

        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        size_t size = z.total_out;
        assert_int_equal(deflateEnd(&z), Z_OK);
        return size;
}

static size_t pack_zstd(void *out, size_t room, const void *bytes, size_t n)
{
        ZSTD_CCtx *z = ZSTD_createCCtx();

        assert_non_null(z);
        assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1))); /* as zstd(1) does */
        size_t size = ZSTD_compress2(z, out, room, bytes, n);
        assert_false(ZSTD_isError(size));
        ZSTD_freeCCtx(z);
        return size;
}

typedef size_t pack(void *out, size_t room, const void *bytes, size_t n);
static pack *const packs[] = { pack_gzip, pack_zstd };

/* Reads all, in pieces; how many bytes it was. */
static size_t read_all(struct log_file *f, size_t piece)
{
        size_t n = 0;
        ssize_t r;

        while ((r = log_file_read(f, got + n, piece < sizeof(got) - n ? piece : sizeof(got) - n)) > 0)
                n += (size_t)r;
        assert_int_equal(r, 0);
        assert_int_equal(log_file_read(f, got + n, 1), 0);
        return n;
}

static struct log_file *reopen(void)
{
        struct error error;
        struct log_file *f = log_file_open(path, &error);

        assert_non_null(f);
        return f;
}

TEST(the_same_bytes_however_it_is_packed)
{
        static const size_t pieces[] = { 1, 7, 4096, BYTES };

        for (size_t i = 0; i < 3; i++) {
                size_t n = i < 2 ? packs[i](packed, sizeof(packed), plain, BYTES) : BYTES;
                write_file(i < 2 ? packed : plain, n);
                for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
                        struct log_file *f = reopen();
                        assert_int_equal(log_file_is_packed(f), i < 2);
                        assert_int_equal(read_all(f, pieces[k]), BYTES);
                        assert_memory_equal(got, plain, BYTES);
                        assert_null(log_file_damage(f));
                        log_file_close(&f);
                        assert_null(f);
                }
        }
}

TEST(archives_one_behind_the_other_are_one_log)
{
        for (size_t i = 0; i < 8; i++) { /* of either kind, with zeros between and behind, or without */
                const size_t zeros = i & 4 ? 70000 : 0;
                size_t n = packs[i & 1](packed, sizeof(packed), plain, BYTES / 3);

                memset(packed + n, 0, zeros);
                n += zeros;
                n += packs[i >> 1 & 1](packed + n, sizeof(packed) - n, plain + BYTES / 3, BYTES - BYTES / 3);
                memset(packed + n, 0, zeros);
                n += zeros;
                write_file(packed, n);
                struct log_file *f = reopen();
                assert_int_equal(read_all(f, 1000), BYTES);
                assert_memory_equal(got, plain, BYTES);
                assert_null(log_file_damage(f));
                log_file_close(&f);
        }
}

TEST(what_is_behind_an_archive_is_no_damage_of_it)
{
        for (size_t i = 0; i < 2; i++) {
                size_t n = packs[i](packed, sizeof(packed), plain, BYTES);

                packed[n] = 'x';
                write_file(packed, n + 1);
                struct log_file *f = reopen();
                assert_int_equal(read_all(f, 4096), BYTES);
                assert_memory_equal(got, plain, BYTES);
                assert_string_equal(log_file_damage(f),
                                    i ? "its zstd archive is followed by something else, which is not read"
                                      : "its gzip archive is followed by something else, which is not read");
                log_file_close(&f);
        }
}

TEST(what_breaks_off_gives_what_there_is_and_says_so)
{
        for (size_t i = 0; i < 2; i++) {
                size_t n = packs[i](packed, sizeof(packed), plain, BYTES);
                for (size_t cut = 5; cut < n; cut += n / 17) {
                        write_file(packed, cut);
                        struct log_file *f = reopen();
                        size_t size = read_all(f, 4096);
                        assert_true(size <= BYTES);
                        assert_memory_equal(got, plain, size);
                        assert_non_null(strstr(log_file_damage(f), "breaks off"));
                        log_file_close(&f);
                }
        }
}

TEST(what_is_damaged_says_so)
{
        for (size_t i = 0; i < 2; i++) {
                size_t n = packs[i](packed, sizeof(packed), plain, BYTES);
                memset(packed + n / 2, 0xff, 100);
                write_file(packed, n);
                struct log_file *f = reopen();
                (void)read_all(f, 4096); /* a checksum comes after its data */
                assert_non_null(strstr(log_file_damage(f), "is damaged"));
                log_file_close(&f);
        }
}

TEST(leaving_out_is_reading_and_forgetting)
{
        static const uint64_t skips[] = { 0, 1, 3, 65536, 65537, 200000 };

        for (size_t i = 0; i < 3; i++) {
                size_t n = i < 2 ? packs[i](packed, sizeof(packed), plain, BYTES) : BYTES;
                write_file(i < 2 ? packed : plain, n);
                for (size_t k = 0; k < sizeof(skips) / sizeof(skips[0]); k++) {
                        struct log_file *f = reopen();
                        assert_int_equal(log_file_read(f, got, 2), 2);
                        assert_true(log_file_skip(f, skips[k]));
                        assert_int_equal(read_all(f, 4096), BYTES - 2 - skips[k]);
                        assert_memory_equal(got, plain + 2 + skips[k], BYTES - 2 - skips[k]);
                        log_file_close(&f);
                }
                struct log_file *f = reopen();
                (void)log_file_skip(f, BYTES + 1);
                assert_int_equal(log_file_read(f, got, 1), 0);
                log_file_close(&f);
        }
}

static long peak_kib(void)
{
        struct rusage usage;

        assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
        return usage.ru_maxrss;
}

/* A gigabyte of zeros in a few bytes: read in pieces it costs time, not memory. */
TEST(a_bomb_takes_no_memory)
{
        static uint8_t zeros[1 << 20];
        ZSTD_CStream *z = ZSTD_createCStream();
        FILE *file = fopen(path, "we");
        uint64_t total = 0;
        ssize_t n;

        assert_non_null(z);
        assert_non_null(file);
        for (int i = 0; i <= 1024; i++) {
                ZSTD_inBuffer in = { zeros, i < 1024 ? sizeof(zeros) : 0, 0 };
                ZSTD_outBuffer out = { packed, sizeof(packed), 0 };
                size_t r = ZSTD_compressStream2(z, &out, &in, i < 1024 ? ZSTD_e_continue : ZSTD_e_end);
                assert_false(ZSTD_isError(r));
                assert_int_equal(fwrite(packed, 1, out.pos, file), out.pos);
        }
        assert_int_equal(fclose(file), 0);
        ZSTD_freeCStream(z);
        long before = peak_kib();
        struct log_file *f = reopen();
        while ((n = log_file_read(f, got, sizeof(got))) > 0)
                total += (uint64_t)n;
        assert_int_equal(total, UINT64_C(1) << 30);
        assert_null(log_file_damage(f));
        log_file_close(&f);
        assert_true(peak_kib() - before < 64 * 1024);
}

TEST(what_cannot_be_opened_is_a_sentence)
{
        struct error error;

        assert_null(log_file_open("/does/not/exist", &error));
        assert_string_equal(error.text, "No such file or directory");
        assert_null(log_file_open("/tmp", &error));
        assert_string_equal(error.text,
                            "it is a directory; `heapwatch recording --dir /tmp` lists "
                            "recordings in it, which are read as recording:/tmp/NAME");
        write_file("", 0);
        struct log_file *f = reopen();
        assert_int_equal(log_file_read(f, got, 1), 0);
        log_file_close(&f);
        log_file_close(&f);
}

static int setup(void **state)
{
        int fd = mkstemp(path);
        uint32_t x = 1;

        for (size_t i = 0; i < BYTES; i++) { /* compressible, yet not the same everywhere */
                x = x * 1103515245u + 12345u;
                plain[i] = (uint8_t)(i % 7 ? 'a' + (x >> 28) : i >> 10);
        }
        return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
        return unlink(path);
}

TEST_GROUP(setup, teardown)
