/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one version of a struct wrote, another reads: members by their names, in other places, widths and kinds; values
 * of enums and items that an enum counts by theirs; pointers to items of another size. What is damaged is refused.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/model/image/image.h"
#include "proto/base/array.h"

#define N_OF(array) (uint32_t) ARRAY_SIZE(array)

/* ------------------------------------------------------------ two versions */

enum old_state { OLD_WAITING, OLD_RUNNING, OLD_ENDED, OLD_FORGOTTEN };
enum new_state { NEW_ENDED = 3, NEW_STARTING, NEW_WAITING, NEW_RUNNING };

static const struct image_name old_states[] = {
        { "WAITING", OLD_WAITING }, { "RUNNING", OLD_RUNNING }, { "ENDED", OLD_ENDED }, { "FORGOTTEN", OLD_FORGOTTEN }
};
static const struct image_name new_states[] = {
        { "ENDED", NEW_ENDED }, { "STARTING", NEW_STARTING }, { "WAITING", NEW_WAITING }, { "RUNNING", NEW_RUNNING }
};
static const struct image_names old_state_names = { old_states, N_OF(old_states) };
static const struct image_names new_state_names = { new_states, N_OF(new_states) };

/* Three numbers then, two of them and another now. */
static const struct image_name old_numbers[] = { { "LIVE", 1 }, { "SLOP", 2 }, { "RSS", 3 } };
static const struct image_name new_numbers[] = { { "RSS", 0 }, { "PSS", 1 }, { "LIVE", 2 }, { "NUMBERS", 3 } };
static const struct image_names old_number_names = { old_numbers, N_OF(old_numbers) };
static const struct image_names new_number_names = { new_numbers, N_OF(new_numbers) };

struct old_item {
        uint32_t id;
        struct old_item *next;
};

struct new_item {
        double weight;
        struct new_item *next;
        uint64_t id;
};

static const struct image_field old_item_fields[] = {
        IMAGE_FIELD(struct old_item, id, IMAGE_UNSIGNED, uint32_t),
        IMAGE_FIELD(struct old_item, next, IMAGE_POINTER, void *),
};
static const struct image_field new_item_fields[] = {
        IMAGE_FIELD(struct new_item, weight, IMAGE_FLOAT, double),
        IMAGE_FIELD(struct new_item, next, IMAGE_POINTER, void *),
        IMAGE_FIELD(struct new_item, id, IMAGE_UNSIGNED, uint64_t),
};
static const struct image_type old_item_type = { "item", sizeof(struct old_item), 0, old_item_fields, 2 };
static const struct image_type new_item_type = { "item", sizeof(struct new_item), 0, new_item_fields, 3 };

struct old_part {
        int32_t change;
        float share;
};

struct new_part {
        double share;
        int64_t change;
        uint64_t added;
};

static const struct image_field old_part_fields[] = {
        IMAGE_FIELD(struct old_part, change, IMAGE_SIGNED, int32_t),
        IMAGE_FIELD(struct old_part, share, IMAGE_FLOAT, float),
};
static const struct image_field new_part_fields[] = {
        IMAGE_FIELD(struct new_part, share, IMAGE_FLOAT, double),
        IMAGE_FIELD(struct new_part, change, IMAGE_SIGNED, int64_t),
        IMAGE_FIELD(struct new_part, added, IMAGE_UNSIGNED, uint64_t),
};
static const struct image_type old_part_type = { "part", sizeof(struct old_part), 0, old_part_fields, 2 };
static const struct image_type new_part_type = { "part", sizeof(struct new_part), 0, new_part_fields, 3 };

struct old_whole {
        uint64_t bytes, gone;
        enum old_state state;
        char text[16];
        struct old_part parts[3];
        uint64_t numbers[4];
        bool seen;
        struct old_item *items;
        uint32_t n, room;
        struct old_item *newest;
};

struct new_whole {
        char text[8];
        bool seen;
        uint32_t n, room;
        struct new_item *newest, *items;
        enum new_state state;
        struct new_part parts[2];
        double bytes, fresh;
        double numbers[3];
        uint64_t total[3];
};

static const struct image_field old_whole_fields[] = {
        IMAGE_FIELD(struct old_whole, bytes, IMAGE_UNSIGNED, uint64_t),
        IMAGE_FIELD(struct old_whole, gone, IMAGE_UNSIGNED, uint64_t),
        IMAGE_NAMED(struct old_whole, state, IMAGE_ENUM, enum old_state, &old_state_names),
        IMAGE_FIELD(struct old_whole, text, IMAGE_TEXT, char),
        IMAGE_STRUCT(struct old_whole, parts, struct old_part, &old_part_type, NULL),
        IMAGE_NAMED(struct old_whole, numbers, IMAGE_UNSIGNED, uint64_t, &old_number_names),
        IMAGE_FIELD(struct old_whole, seen, IMAGE_BOOL, bool),
        IMAGE_FIELD(struct old_whole, items, IMAGE_POINTER, void *),
        IMAGE_FIELD(struct old_whole, n, IMAGE_UNSIGNED, uint32_t),
        IMAGE_FIELD(struct old_whole, room, IMAGE_UNSIGNED, uint32_t),
        IMAGE_FIELD(struct old_whole, newest, IMAGE_POINTER, void *),
};
static const struct image_field new_whole_fields[] = {
        IMAGE_FIELD(struct new_whole, text, IMAGE_TEXT, char),
        IMAGE_FIELD(struct new_whole, seen, IMAGE_BOOL, bool),
        IMAGE_FIELD(struct new_whole, n, IMAGE_UNSIGNED, uint32_t),
        IMAGE_FIELD(struct new_whole, room, IMAGE_UNSIGNED, uint32_t),
        IMAGE_FIELD(struct new_whole, newest, IMAGE_POINTER, void *),
        IMAGE_FIELD(struct new_whole, items, IMAGE_POINTER, void *),
        IMAGE_NAMED(struct new_whole, state, IMAGE_ENUM, enum new_state, &new_state_names),
        IMAGE_STRUCT(struct new_whole, parts, struct new_part, &new_part_type, NULL),
        IMAGE_FIELD(struct new_whole, bytes, IMAGE_FLOAT, double),
        IMAGE_FIELD(struct new_whole, fresh, IMAGE_FLOAT, double),
        IMAGE_NAMED(struct new_whole, numbers, IMAGE_FLOAT, double, &new_number_names),
};
static const struct image_type old_type = { "whole", sizeof(struct old_whole), 0, old_whole_fields, 11 };
static const struct image_type new_type = { "whole", sizeof(struct new_whole), 0, new_whole_fields, 11 };

static void image_old(struct image *im, struct old_whole *w)
{
        image_struct(im, w, &old_type);
        image_struct_array(im, &w->items, &w->n, &w->room, &old_item_type, 100);
        for (struct image_entries e = image_entries(im, &old_number_names, ARRAY_SIZE(w->numbers)); image_next(im, &e);)
                if (!e.lacks)
                        image_plain(im, &w->numbers[e.i], sizeof(w->numbers[e.i]));
        for (uint32_t i = 0; im->reads && i < w->n; i++)
                image_pointer(im, &w->items[i].next, sizeof(*w->items));
        if (im->reads)
                image_pointer(im, &w->newest, sizeof(*w->newest));
}

static void read_new(struct image *im, struct new_whole *w)
{
        image_struct(im, w, &new_type);
        image_struct_array(im, &w->items, &w->n, &w->room, &new_item_type, 100);
        struct image_entries e = image_entries(im, &new_number_names, ARRAY_SIZE(w->total));
        while (image_next(im, &e))
                if (e.lacks)
                        w->total[e.i] = 99;
                else
                        image_plain(im, &w->total[e.i], sizeof(w->total[e.i]));
        for (uint32_t i = 0; i < w->n; i++)
                image_pointer(im, &w->items[i].next, sizeof(*w->items));
        image_pointer(im, &w->newest, sizeof(*w->newest));
}

/* Its items are the test's. */
static struct old_whole example(struct old_item items[4])
{
        struct old_whole w = { .bytes = 1234567,
                               .gone = 1,
                               .state = OLD_RUNNING,
                               .text = "a longer text",
                               .parts = { { -5, 0.5f }, { INT32_MIN, -1 }, { 7, 7 } },
                               .numbers = { 0, 10, 20, 30 },
                               .seen = true,
                               .items = items,
                               .n = 3,
                               .room = 4,
                               .newest = &items[2] };

        for (uint32_t i = 0; i < 3; i++)
                items[i] = (struct old_item){ i + 1, i ? &items[i - 1] : NULL };
        return w;
}

static uint8_t *write_example(size_t *ret_n)
{
        struct old_item items[4] = { { .id = 0 } };
        struct old_whole w = example(items);
        struct image im;

        image_write(&im, 0);
        image_old(&im, &w);
        uint8_t *bytes = image_detach(&im, ret_n);
        assert_non_null(bytes);
        image_done(&im);
        return bytes;
}

static struct new_whole empty(void)
{
        return (struct new_whole){ .state = NEW_STARTING, .fresh = 2.5, .numbers = { -1, -1, -1 } };
}

/* What the new version makes of what the old one writes; NULL, or why it is refused. */
static const char *read_old(struct old_whole *old, struct new_whole *ret)
{
        struct image im;
        size_t n;

        *ret = empty();
        image_write(&im, 0);
        image_old(&im, old);
        uint8_t *bytes = image_detach(&im, &n);
        image_done(&im);
        image_read(&im, bytes, n);
        read_new(&im, ret);
        const char *trouble = im.trouble;
        image_done(&im);
        free(bytes);
        return trouble;
}

/* ------------------------------------------------------------------- tests */

TEST(test_same_version)
{
        struct old_whole w = { .bytes = 0 };
        struct image im;
        size_t n;
        uint8_t *bytes = write_example(&n);

        image_read(&im, bytes, n);
        image_old(&im, &w);
        assert_null(im.trouble);
        assert_int_equal(im.at, im.n);
        image_done(&im);
        assert_int_equal(w.bytes, 1234567);
        assert_int_equal(w.state, OLD_RUNNING);
        assert_string_equal(w.text, "a longer text");
        assert_int_equal(w.parts[1].change, INT32_MIN);
        assert_int_equal(w.numbers[2], 20);
        assert_ptr_equal(w.newest, &w.items[2]);
        assert_ptr_equal(w.items[2].next, &w.items[1]);
        assert_null(w.items[0].next);
        free(w.items);
        free(bytes);
}

TEST(test_another_version)
{
        struct new_whole w = empty();
        struct image im;
        size_t n;
        uint8_t *bytes = write_example(&n);

        image_read(&im, bytes, n);
        read_new(&im, &w);
        assert_null(im.trouble);
        assert_int_equal(im.at, im.n);
        image_done(&im);
        free(bytes);
        assert_true(w.bytes == 1234567 && w.seen);
        assert_true(w.fresh == 2.5); /* the writer did not have it */
        assert_int_equal(w.state, NEW_RUNNING);
        assert_string_equal(w.text, "a longe");
        assert_true(w.parts[0].change == -5 && w.parts[0].share == 0.5 && w.parts[0].added == 0);
        assert_true(w.parts[1].change == INT32_MIN && w.parts[1].share == -1);
        assert_true(w.numbers[0] == 30 && w.numbers[1] == -1 && w.numbers[2] == 10);
        assert_true(w.total[0] == 30 && w.total[1] == 99 && w.total[2] == 10);
        assert_true(w.n == 3 && w.room == 4);
        for (uint32_t i = 0; i < 3; i++) {
                assert_true(w.items[i].id == i + 1 && w.items[i].weight == 0);
                assert_ptr_equal(w.items[i].next, i ? &w.items[i - 1] : NULL);
        }
        assert_ptr_equal(w.newest, &w.items[2]);
        free(w.items);
}

/* Unknown is UINT64_MAX in integers, and NaN in others. */
TEST(test_unknown_stays_unknown)
{
        struct old_item items[4] = { { .id = 0 } };
        struct old_whole old = example(items);
        struct new_whole w;

        old.bytes = UINT64_MAX;
        assert_null(read_old(&old, &w));
        assert_true(isnan(w.bytes));
        free(w.items);
}

TEST(test_an_unknown_state_is_refused)
{
        struct old_item items[4] = { { .id = 0 } };
        struct old_whole old = example(items);
        struct new_whole w;

        old.state = OLD_FORGOTTEN;
        assert_string_equal(read_old(&old, &w), "a state in it is not known to this version");
        free(w.items);
}

TEST(test_what_must_be_the_same)
{
        uint64_t width = 60;
        struct image im;
        size_t n;

        image_write(&im, 0);
        image_expect(&im, &width, sizeof(width));
        uint8_t *bytes = image_detach(&im, &n);
        image_done(&im);
        for (width = 59; width < 62; width++) {
                image_read(&im, bytes, n);
                image_expect(&im, &width, sizeof(width));
                assert_int_equal(image_fine(&im), width == 60);
                image_done(&im);
        }
        free(bytes);
}

/* Every byte is each time another one, and the image is cut everywhere: nothing is read or written beyond an end. */
TEST(test_damaged)
{
        size_t n;
        uint8_t *bytes = write_example(&n);

        for (size_t at = 0; at < 9 * n; at++) {
                size_t size = at < n ? at : n;
                uint8_t *part = malloc(size ? size : 1); /* so that reading beyond it is noticed */
                struct new_whole w = empty();
                struct image im;
                assert_non_null(part);
                memcpy(part, bytes, size);
                if (at >= n)
                        part[(at - n) / 8] ^= (uint8_t)(1u << (at - n) % 8);
                image_read(&im, part, size);
                read_new(&im, &w);
                assert_true(at >= n || im.trouble);
                image_done(&im);
                free(w.items);
                free(part);
        }
        free(bytes);
}
