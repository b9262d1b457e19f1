/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.c - `heapwatch plot`: a finished log as a picture.
 *
 * DESIGN: the run is read once and collected within bounds; then it is drawn with cairo on a surface chosen by
 * the file name's suffix.
 */
#include <cairo-pdf.h>
#include <cairo-ps.h>
#include <cairo-svg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/command.h"
#include "client/cli/options.h"
#include "client/cli/out_file.h"
#include "client/cli/signals.h"
#include "client/convert/reader.h"
#include "client/plot/plot.h"
#include "proto/base/array.h"

#define LEAST_SIZE 300
#define MOST_SIZE  10000
#define PNG_SCALE  2.0 /* pixels per point */

struct request {
        const char *log, *output, *save_order;
        struct plot_options plot;
        uint32_t run, width, height;
};

/* ----------------------------------------------------------------- surfaces */

static cairo_status_t write_bytes(void *to, const unsigned char *bytes, unsigned n)
{
        return fwrite(bytes, 1, n, to) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *svg(FILE *to, double width, double height)
{
        return cairo_svg_surface_create_for_stream(write_bytes, to, width, height);
}

static cairo_surface_t *pdf(FILE *to, double width, double height)
{
        return cairo_pdf_surface_create_for_stream(write_bytes, to, width, height);
}

static cairo_surface_t *ps(FILE *to, double width, double height)
{
        return cairo_ps_surface_create_for_stream(write_bytes, to, width, height);
}

static cairo_surface_t *eps(FILE *to, double width, double height)
{
        cairo_surface_t *s = ps(to, width, height);

        cairo_ps_surface_set_eps(s, 1);
        return s;
}

static cairo_surface_t *png(FILE *to, double width, double height)
{
        cairo_surface_t *s =
                cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * PNG_SCALE), (int)(height * PNG_SCALE));

        (void)to; /* written when it is drawn */
        cairo_surface_set_device_scale(s, PNG_SCALE, PNG_SCALE);
        return s;
}

static const struct kind {
        const char *ending;
        cairo_surface_t *(*make)(FILE *to, double width, double height);
} kinds[] = { { ".svg", svg }, { ".png", png }, { ".pdf", pdf }, { ".eps", eps }, { ".ps", ps } };

static const struct kind *kind_of(const char *name)
{
        const char *ending = name ? strrchr(name, '.') : NULL;

        for (size_t i = 0; ending && i < ARRAY_SIZE(kinds); i++)
                if (!strcmp(ending, kinds[i].ending))
                        return &kinds[i];
        return NULL;
}

/* ------------------------------------------------------------------ options */

static const char *const sorts[] = { "size", "stddev", "name", NULL };
static const char *const themes[] = { "light", "dark", "print", NULL };

static int take_lines(const struct command *c, const struct option *o, void *filled, char *value)
{
        static const char *const names[PLOT_LINES] = { "live", "heap", "rss" };
        struct request *r = filled;
        char *part;

        r->plot.lines_given = true;
        memset(r->plot.lines, 0, sizeof(r->plot.lines));
        while ((part = strsep(&value, ","))) {
                bool known = !strcmp(part, "none");
                for (int i = 0; i < PLOT_LINES; i++) {
                        r->plot.lines[i] |= !strcmp(part, names[i]);
                        known |= !strcmp(part, names[i]);
                }
                if (!known)
                        return option_error(c, o, "unknown '%s'; expected live, heap, rss or none", part);
        }
        return 0;
}

static int take_threshold(const struct command *c, const struct option *o, void *filled, char *value)
{
        char *end;
        double percent = strtod(value, &end);

        if (end == value || *end || !(percent >= 0 && percent <= 100))
                return option_error(c, o, "'%s': expected percent, 0 to 100", value);
        ((struct request *)filled)->plot.threshold = percent;
        return 0;
}

static const struct option options[] = {
        OPERAND_TEXT("LOG", struct request, log, COMPLETE_FILE, NULL),
        OPTION_TEXT("output", 'o', "FILE", struct request, output, COMPLETE_FILE,
                    "the output file; its suffix .svg, .png, .pdf, .eps or .ps chooses the format"),
        OPTION_NUMBER("bands", 'n', uint32_t, struct request, plot.bands, 0, PLOT_BANDS,
                      "the N largest; all others are one band, (other), on top (default 20; hp2ps -m)"),
        OPTION_CALLBACK("threshold", 0, "PERCENT", take_threshold, COMPLETE_NOTHING,
                        "a band with less of the sum of all censuses is among the others (default 1; hp2ps -t)"),
        OPTION_CHOICE(
                "sort", 0, "size|stddev|name", int, struct request, plot.sort, sorts,
                "by sum (default), by standard deviation, the most variable first (hp2ps -d), or by name (hp2ps -i)"),
        OPTION_CHOICE("theme", 0, "light|dark|print", int, struct request, plot.theme, themes,
                      "light (default), dark, or print: greys and hatching, for black ink"),
        OPTION_CALLBACK("lines", 0, "LIST", take_lines, COMPLETE_NOTHING,
                        "live, heap, rss: which of them are drawn if known (default: live, or all if there are no "
                        "censuses), or none"),
        OPTION_FLAG("traces", 0, struct request, plot.traces, "each band as a line of its own, not stacked"),
        OPTION_FLAG("no-notes", 0, struct request, plot.no_notes,
                    "without the program's markers and messages (hp2ps -y)"),
        OPTION_FLAG("small-title", 0, struct request, plot.small_title, "the title in one small line (hp2ps -s)"),
        OPTION_NUMBER("width", 0, uint32_t, struct request, width, LEAST_SIZE + 300, MOST_SIZE,
                      "in points, 72 per inch; a PNG has two pixels per point (default 960; hp2ps -e)"),
        OPTION_NUMBER("height", 0, uint32_t, struct request, height, LEAST_SIZE, MOST_SIZE, "in points (default 540)"),
        OPTION_TEXT("save-order", 0, "FILE", struct request, save_order, COMPLETE_FILE,
                    "write scales and order of this picture to FILE, as hp2ps does to its .aux"),
        OPTION_TEXT("order", 0, "FILE", struct request, plot.order, COMPLETE_FILE,
                    "scales and order of another picture, so that the two can be compared (hp2ps -p)"),
        OPTION_NUMBER("run", 0, uint32_t, struct request, run, 1, UINT32_MAX,
                      "the N-th run of a log with several (default: the first)"),
        OPTIONS_END,
};

static int check(void *filled)
{
        struct request *r = filled;

        if (!kind_of(r->output))
                return command_usage_error(&command_plot,
                                           "expected an output file: add -o FILE.svg (or .png, .pdf, .eps, .ps)");
        r->plot.width = r->width;
        r->plot.height = r->height;
        return 0;
}

/* ------------------------------------------------------------------ drawing */

static int draw(const struct request *r, const struct plot_data *d, const struct plot_chart *c,
                const struct world_target *t, FILE *to)
{
        struct plot_picture *p = calloc(1, sizeof(*p));
        const struct kind *kind = kind_of(r->output);

        if (!p)
                return -ENOMEM;
        p->options = &r->plot;
        p->data = d;
        p->chart = c;
        p->t = t;
        cairo_surface_t *surface = kind->make(to, r->plot.width, r->plot.height);
        cairo_t *cr = cairo_create(surface);
        errno = 0;
        plot_draw(p, cr);
        cairo_show_page(cr);
        if (kind->make == png && cairo_status(cr) == CAIRO_STATUS_SUCCESS)
                (void)cairo_surface_write_to_png_stream(surface, write_bytes, to);
        cairo_status_t status = cairo_status(cr);
        cairo_destroy(cr);
        cairo_surface_finish(surface);
        status = status ? status : cairo_surface_status(surface);
        cairo_surface_destroy(surface);
        free(p);
        return status == CAIRO_STATUS_SUCCESS ? 0 : status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : errno ? -errno : -EIO;
}

static int explain(const struct request *r, const struct run_reader *reader, int status)
{
        if (status == 0)
                return EXIT_OK;
        if (status == -ENODATA && reader->runs_seen < r->run)
                command_error(&command_plot, "%s has %u run%s, not %u", r->log, reader->runs_seen,
                              reader->runs_seen == 1 ? "" : "s", r->run);
        else if (status == -ENODATA)
                command_error(&command_plot,
                              "%s has neither censuses nor the lines of --lines; run the program with "
                              "+RTS -l -hT -i1 (or another -h)",
                              r->log);
        else if (status < 0 && status != -EINTR)
                command_error(&command_plot, "cannot write %s: %s", r->output, strerror(-status));
        return EXIT_USAGE;
}

/* After reading: chooses and draws. Reports errors of order files itself, because they name other files. */
static int make(const struct request *r, struct plot_data *d, const struct run_reader *reader, FILE *to)
{
        struct plot_chart *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        int status = plot_choose(c, d, reader->seen.t, &r->plot);
        if (status == -ENOENT || status == -EACCES) {
                command_error(&command_plot, "%s: %s", r->plot.order, strerror(-status));
                status = 1;
        }
        status = status ? status : draw(r, d, c, reader->seen.t, to);
        if (status == 0 && r->save_order && plot_save_order(c, r->save_order)) {
                command_error(&command_plot, "cannot write %s", r->save_order);
                status = 1;
        }
        plot_chart_done(c);
        free(c);
        return status;
}

static int plot(struct request *r)
{
        struct plot_data *d = calloc(1, sizeof(*d));
        struct out_file out;
        struct run_reader reader = {
                .command = &command_plot, .log = r->log, .run = r->run, .take = plot_data_take, .state = d
        };
        int status = d ? out_file_open(&out, r->output) : -ENOMEM;

        if (status == 0) {
                status = plot_data_init(d);
                status = status ? status : run_reader_read(&reader);
                if (status == 0)
                        status = reader.seen.t ? make(r, d, &reader, out.to) : -ENODATA;
                status = out_file_close(&out, status);
        }
        int end = explain(r, &reader, status);
        if (d)
                plot_data_done(d);
        free(d);
        run_reader_done(&reader);
        return end;
}

static int run(void *filled)
{
        signals_catch();
        int status = plot(filled);
        signals_die();
        return status;
}

const struct command command_plot = {
        .name = "plot",
        .summary = "a finished log as a picture: svg, png, pdf, eps or ps",
        .usage = (const char *const[]){ "LOG -o FILE [OPTION]...", NULL },
        .about = "Draws the heap of a finished log by band over time, as hp2ps does from a .hp file, with live data "
                 "and the program's notes. The key has the bytes of each band in the census with the most bytes.",
        .options = options,
        .notes = "Colours are distinguishable with any colour vision. Of more than 4096 censuses, the largest of each "
                 "few are drawn. For a log without censuses only its lines are drawn.",
        .status = "0 the picture was written, 2 bad input, or the log has nothing to draw.",
        .examples =
                (const char *const[]){
                        "heapwatch plot run.eventlog -o run.svg",
                        "heapwatch plot run.hp -o run.pdf --theme print --bands 10 --threshold 2",
                        "heapwatch plot before.eventlog -o before.png --save-order b.aux",
                        "heapwatch plot after.eventlog -o after.png --order b.aux",
                        NULL,
                },
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .run = 1,
                                             .width = 960,
                                             .height = 540,
                                             .plot = { .bands = 20, .threshold = 1, } },
        .check = check,
        .run = run,
};
