/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a run: which bands are chosen, which are among the others, and that no two texts overlap. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "client/out/report/plot.h"

#define BANDS 200u

static struct world_target target;
static struct world_band bands[BANDS];
static struct world_band *band_list[BANDS];
static Hw__Band defs[BANDS];
static char labels[BANDS][96];

/* Bands "band 7", each with n times 100 bytes, with labels that are much too long when asked for. */
static void name_bands(bool long_labels)
{
        for (uint32_t i = 0; i < BANDS; i++) {
                (void)snprintf(labels[i], sizeof(labels[i]), "%s band %u",
                               long_labels ? "a-package-0.1.2.3:A.Module.With.A.Very.Long.Name.Indeed\xc3\xa4\xc3\xa4"
                                           : "",
                               i + 1);
                hw__band__init(&defs[i]);
                defs[i].id = i + 1;
                defs[i].label = labels[i];
                bands[i] = (struct world_band){ .id = i + 1, .def = &defs[i] };
                band_list[i] = &bands[i];
        }
        target = (struct world_target){ .name = "x", .bands = band_list, .n_bands = BANDS };
}

static void add_census(struct plot_data *d, uint64_t time_ns, uint32_t n, uint64_t each)
{
        Hw__Census c = HW__CENSUS__INIT;
        Hw__Update u = HW__UPDATE__INIT;
        uint32_t ids[BANDS];
        uint64_t bytes[BANDS];

        for (uint32_t i = 0; i < n; i++) {
                ids[i] = i + 1;
                bytes[i] = each * (i + 1);
                c.total_bytes += bytes[i];
        }
        c.time_ns = time_ns;
        c.band = ids;
        c.bytes = bytes;
        c.n_band = c.n_bytes = n;
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &c;
        assert_int_equal(plot_data_add(d, &u), 0);
}

static void add_note(struct plot_data *d, uint64_t time_ns, const char *text, Hw__Note__What what)
{
        Hw__Note n = HW__NOTE__INIT, *list = &n;
        Hw__Notes notes = HW__NOTES__INIT;
        Hw__Update u = HW__UPDATE__INIT;

        n.time_ns = time_ns;
        n.text = (char *)text;
        n.what = what;
        SET_LIST(notes, notes, &list, 1);
        u.body_case = HW__UPDATE__BODY_NOTES;
        u.notes = &notes;
        assert_int_equal(plot_data_add(d, &u), 0);
}

static const struct plot_options usual = { .bands = 20, .threshold = 0, .width = 960, .height = 540 };

TEST(test_largest_and_others)
{
        struct plot_data d;
        struct plot_chart c;
        struct plot_options o = usual;

        name_bands(false);
        assert_int_equal(plot_data_init(&d), 0);
        add_census(&d, 1000000000, 10, 100);
        add_census(&d, 2000000000, 10, 200);
        add_census(&d, 3000000000, 10, 50);
        o.bands = 3;
        assert_int_equal(plot_choose(&c, &d, &target, &o), 0);
        assert_int_equal(c.n_bands, 4);
        assert_string_equal(c.bands[0].label, " band 10");
        assert_string_equal(c.bands[2].label, " band 8");
        assert_int_equal(c.bands[3].id, 0);
        assert_int_equal(c.bands[0].peak_bytes, 2000);
        assert_int_equal(c.bands[3].peak_bytes, 200 * 28); /* 1 to 7 */
        assert_int_equal(c.bands[3].bytes[2], 50 * 28);
        assert_int_equal(c.peak_bytes, 200 * 55);
        assert_int_equal(c.peak_ns, 2000000000);
        assert_float_equal(c.integral, 5500 / 2.0 + (5500 + 11000) / 2.0 + (11000 + 2750) / 2.0, 1e-6);
        plot_chart_done(&c);
        o = usual;
        o.threshold = 10; /* of 55: those from 6 on */
        assert_int_equal(plot_choose(&c, &d, &target, &o), 0);
        assert_int_equal(c.n_bands, 6);
        assert_int_equal(c.bands[5].peak_bytes, 200 * 15);
        plot_chart_done(&c);
        plot_data_done(&d);
}

TEST(test_many_censuses_keep_the_peak)
{
        struct plot_data d;
        struct plot_chart c;

        name_bands(false);
        assert_int_equal(plot_data_init(&d), 0);
        for (uint64_t i = 1; i <= 3 * PLOT_COLUMNS + 7; i++)
                add_census(&d, i * 1000000, 3, i == 5000 ? 9999 : 7);
        assert_int_equal(plot_choose(&c, &d, &target, &usual), 0);
        assert_true(c.n_columns <= PLOT_COLUMNS && c.n_columns > PLOT_COLUMNS / 2);
        assert_int_equal(c.peak_bytes, 9999 * 6);
        bool found = false;
        for (size_t i = 0; i < c.n_columns; i++) {
                found |= c.bands[0].bytes[i] == 9999 * 3 && c.times_ns[i] == 5000 * UINT64_C(1000000);
                assert_true(i == 0 || c.times_ns[i] > c.times_ns[i - 1]);
        }
        assert_true(found);
        plot_chart_done(&c);
        plot_data_done(&d);
}

TEST(test_nothing_to_draw)
{
        struct plot_data d;
        struct plot_chart c;

        assert_int_equal(plot_data_init(&d), 0);
        assert_int_equal(plot_choose(&c, &d, &target, &usual), -ENODATA);
        plot_chart_done(&c);
        plot_data_done(&d);
}

static void assert_apart(const struct plot_picture *p, const struct plot_options *o)
{
        for (size_t i = 0; i < p->n_texts; i++) {
                const struct plot_text *a = &p->texts[i];
                assert_true(a->x >= 0 && a->y >= 0 && a->x + a->width <= o->width && a->y + a->height <= o->height);
                for (size_t k = i + 1; k < p->n_texts; k++) {
                        const struct plot_text *b = &p->texts[k];
                        bool apart = a->x + a->width <= b->x + 0.01 || b->x + b->width <= a->x + 0.01 ||
                                     a->y + a->height <= b->y + 0.01 || b->y + b->height <= a->y + 0.01;
                        if (!apart)
                                fail_msg("texts %zu and %zu overlap: %.1f,%.1f %.1fx%.1f and %.1f,%.1f %.1fx%.1f", i, k,
                                         a->x, a->y, a->width, a->height, b->x, b->y, b->width, b->height);
                }
        }
}

/* Few and many bands, short and long labels, few and many notes, small and large pictures, all themes. */
TEST(test_no_two_texts_overlap)
{
        static const double sizes[][2] = { { 960, 540 }, { 600, 300 }, { 3000, 400 } };
        static const uint32_t numbers[] = { 1, 20, PLOT_BANDS };
        struct plot_picture *p = calloc(1, sizeof(*p));

        assert_non_null(p);
        for (unsigned way = 0; way < 3 * 3 * 3 * 2; way++) {
                struct plot_options o = usual;
                struct plot_data d;
                struct plot_chart c;
                o.width = sizes[way % 3][0];
                o.height = sizes[way % 3][1];
                o.theme = (int)(way / 3 % 3);
                o.bands = numbers[way / 9 % 3];
                o.small_title = way % 2;
                o.traces = way % 5 == 4;
                name_bands(way / 27);
                assert_int_equal(plot_data_init(&d), 0);
                for (uint64_t i = 0; i < 30; i++)
                        add_census(&d, i * 700000000, way % 4 ? BANDS : 5, 1 + (i * 7919) % 1000000);
                for (uint64_t i = 0; i < 50; i++)
                        add_note(&d, i * i * 7000000, i % 3 ? "a message that is rather long" : "phase",
                                 i % 3 ? HW__NOTE__WHAT__WHAT_MESSAGE : HW__NOTE__WHAT__WHAT_MARKER);
                assert_int_equal(plot_choose(&c, &d, &target, &o), 0);
                *p = (struct plot_picture){ .options = &o, .data = &d, .chart = &c, .t = &target };
                cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)o.width, (int)o.height);
                cairo_t *cr = cairo_create(surface);
                plot_draw(p, cr);
                assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
                assert_true(p->n_texts > 8);
                assert_apart(p, &o);
                cairo_destroy(cr);
                cairo_surface_destroy(surface);
                plot_chart_done(&c);
                plot_data_done(&d);
        }
        free(p);
}

/* Another picture with this one's order and scales. */
TEST(test_order_of_another_plot)
{
        char path[] = "/tmp/hw-order-XXXXXX";
        struct plot_options o = usual;
        struct plot_data d;
        struct plot_chart c;
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
        name_bands(false);
        assert_int_equal(plot_data_init(&d), 0);
        add_census(&d, 4000000000, 6, 100);
        o.sort = SORT_NAME;
        o.bands = 4;
        assert_int_equal(plot_choose(&c, &d, &target, &o), 0);
        assert_string_equal(c.bands[0].label, " band 3");
        assert_int_equal(plot_save_order(&c, path), 0);
        uint64_t y_bytes = c.y_bytes;
        plot_chart_done(&c);
        add_census(&d, 9000000000, 20, 5000);
        o = usual;
        o.order = path;
        o.bands = 6;
        assert_int_equal(plot_choose(&c, &d, &target, &o), 0);
        assert_int_equal(c.x_ns, 4000000000);
        assert_int_equal(c.y_bytes, y_bytes);
        assert_string_equal(c.bands[0].label, " band 3");
        assert_string_equal(c.bands[3].label, " band 6");
        assert_string_equal(c.bands[4].label, " band 20");
        plot_chart_done(&c);
        plot_data_done(&d);
        assert_int_equal(unlink(path), 0);
}
