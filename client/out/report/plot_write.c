/* SPDX-License-Identifier: BSD-3-Clause */
/* plot_write.c - the formats of a picture: each is a surface of cairo. */
#include "client/out/report/plot.h"

#include <cairo-pdf.h>
#include <cairo-ps.h>
#include <cairo-svg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"

#define PNG_SCALE 2.0 /* pixels per point */

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

static const struct plot_format {
        const char *name;
        cairo_surface_t *(*make)(FILE *to, double width, double height);
} formats[] = { { "svg", svg }, { "png", png }, { "pdf", pdf }, { "eps", eps }, { "ps", ps } };

static const struct plot_format *find_format(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
                if (!strcmp(name, formats[i].name))
                        return &formats[i];
        return NULL;
}

bool plot_is_format(const char *name)
{
        return find_format(name) != NULL;
}

int plot_write(struct plot_picture *p, const char *format, FILE *to)
{
        const struct plot_format *f = find_format(format);
        cairo_surface_t *surface = f->make(to, p->options->width, p->options->height);
        cairo_t *cr = cairo_create(surface);

        errno = 0;
        plot_draw(p, cr);
        cairo_show_page(cr);
        if (f->make == png && cairo_status(cr) == CAIRO_STATUS_SUCCESS)
                (void)cairo_surface_write_to_png_stream(surface, write_bytes, to);
        cairo_status_t status = cairo_status(cr);
        cairo_destroy(cr);
        cairo_surface_finish(surface);
        status = status ? status : cairo_surface_status(surface);
        cairo_surface_destroy(surface);
        return status == CAIRO_STATUS_SUCCESS ? 0 : status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : errno ? -errno : -EIO;
}
