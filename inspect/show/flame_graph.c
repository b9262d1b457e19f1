/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flame_graph.c - a profile as a picture: a box for each node, as wide as its share, above its caller. One file that
 * needs nothing else; a box says its name and share when the pointer is on it, and fills the width when it is clicked.
 * What waits has a picture of its own, below that of what runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/number_text.h"
#include "inspect/ghc/names.h"
#include "inspect/show/out_file.h"
#include "proto/base/hash.h"
#include "proto/base/text_out.h"

#define WIDTH       1200.0
#define MARGIN      10.0
#define ROW         16u
#define TOP         40u /* for the title */
#define LEAST       0.2 /* width of a box that is drawn */
#define LETTER      6.6 /* width of one, about */
#define TITLE_LIMIT 200

/* What is above the clicked box is stretched with it, what is below fills the width; the lowest box shows all again. */
static const char script[] =
        "<script><![CDATA[\n"
        "const left = 10, all = 1180, letter = 6.6\n"
        "for (const part of document.querySelectorAll('svg > svg')) {\n"
        "const boxes = [...part.querySelectorAll('g')].map(g => {\n"
        "  const r = g.querySelector('rect'), n = k => +r.getAttribute(k)\n"
        "  return { g, r, x: n('x'), y: n('y'), w: n('width'), name: g.firstChild.textContent.replace(/: [^:]*$/, '') "
        "}\n"
        "})\n"
        "function place(b, x, w, shown) {\n"
        "  b.g.style.display = shown ? '' : 'none'\n"
        "  if (!shown) return\n"
        "  b.r.setAttribute('x', x)\n"
        "  b.r.setAttribute('width', w)\n"
        "  let t = b.g.querySelector('text')\n"
        "  if (!t) {\n"
        "    t = b.g.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'text'))\n"
        "    t.setAttribute('y', b.y + 11)\n"
        "  }\n"
        "  const most = Math.floor(w / letter) - 2\n"
        "  t.setAttribute('x', x + 3)\n"
        "  t.textContent = most < 2 ? '' : b.name.length > most ? b.name.slice(0, most) + '..' : b.name\n"
        "}\n"
        "for (const z of boxes) z.g.addEventListener('click', () => {\n"
        "  for (const b of boxes) {\n"
        "    const inside = b.x >= z.x - 0.02 && b.x + b.w <= z.x + z.w + 0.02\n"
        "    const around = b.x <= z.x + 0.02 && b.x + b.w >= z.x + z.w - 0.02\n"
        "    if (b.y > z.y) place(b, left, all, around)\n"
        "    else place(b, left + (b.x - z.x) * all / z.w, b.w * all / z.w, inside)\n"
        "  }\n"
        "})\n"
        "}\n"
        "]]></script>\n";

struct box {
        uint64_t begin, next; /* where it begins; where its next child begins */
        uint32_t depth;
};

struct picture {
        const struct time_tree *tree;
        struct box *boxes; /* by id of the node; 0: all */
        uint64_t all_weight;
        bool is_bytes;
        unsigned height;
};

static void put_text(FILE *to, const char *text, size_t most)
{
        char safe[2 * PROGRAM_NAME_BYTES];

        (void)hw_terminal_text(safe, sizeof(safe), text);
        for (size_t i = 0; safe[i]; i++) {
                if (i >= most && ((unsigned char)safe[i] & 0xc0) != 0x80) { /* at the beginning of a character */
                        (void)fputs("..", to);
                        return;
                }
                const char *entity = xml_entity(safe[i], false);
                (void)(entity ? fputs(entity, to) : putc(safe[i], to));
        }
}

static void put_box(FILE *to, const struct picture *p, const char *name, const struct box *b, uint64_t weight,
                    uint64_t samples)
{
        const double scale = (WIDTH - 2 * MARGIN) / (double)p->all_weight, width = (double)weight * scale;
        const double x = MARGIN + (double)b->begin * scale;
        const unsigned y = p->height - (b->depth + 1) * ROW - (unsigned)MARGIN;
        char much[HW_NUMBER_MAX];

        if (width < LEAST)
                return;
        (void)fputs("<g><title>", to);
        put_text(to, name, TITLE_LIMIT);
        (void)fprintf(to, ": %s, %s, %" PRIu64 " %s</title>", SHARE_TEXT((double)weight / (double)p->all_weight),
                      (p->is_bytes ? hw_bytes_text : hw_duration_text)(much, sizeof(much), (double)weight), samples,
                      samples == 1 ? "sample" : "samples");
        (void)fprintf(to, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"", x, y, width, ROW - 1);
        /* Warm colours, the same for the same name; grey for what is no function. */
        const uint64_t hash = hash_bytes(name, strlen(name), 0);

        if (name[0] == '(')
                (void)fputs("#c8c8c8", to);
        else
                (void)fprintf(to, "hsl(%u,%u%%,%u%%)", (unsigned)(hash % 50), 75 + (unsigned)(hash >> 8) % 20,
                              62 + (unsigned)(hash >> 16) % 12);
        (void)fputs("\"/>", to);
        if (width > 4 * LETTER) {
                (void)fprintf(to, "<text x=\"%.1f\" y=\"%u\">", x + 3, y + ROW - 5);
                put_text(to, name, (size_t)(width / LETTER) - 2);
                (void)fputs("</text>", to);
        }
        (void)fputs("</g>\n", to);
}

/* Children are in the order in which they were first met. */
static bool picture_make(struct picture *p, const struct time_tree *t, bool is_bytes)
{
        uint32_t deepest = 0;

        *p = (struct picture){ t, calloc(time_tree_count(t) + 1u, sizeof(struct box)), time_tree_weight(t), is_bytes,
                               0 };
        for (uint32_t id = 1; p->boxes && id <= time_tree_count(t); id++) {
                const struct time_node *node = time_tree_nth(t, id);
                struct box *parent = &p->boxes[node->parent];
                p->boxes[id] = (struct box){ parent->next, parent->next, parent->depth + 1 };
                parent->next += node->total_weight;
                if (p->boxes[id].depth > deepest)
                        deepest = p->boxes[id].depth;
        }
        p->height = TOP + (deepest + 1) * ROW + 2 * (unsigned)MARGIN;
        return p->boxes != NULL;
}

static void put_picture(FILE *to, const struct stack_profile *p, const struct picture *of, unsigned y,
                        const char *program, const char *what)
{
        const uint64_t samples = time_tree_samples(of->tree);

        (void)fprintf(to, "<svg y=\"%u\" width=\"%.0f\" height=\"%u\">\n<text x=\"%.0f\" y=\"24\" font-size=\"15\">", y,
                      WIDTH, of->height, MARGIN);
        put_text(to, program ? program : "heapwatch profile", TITLE_LIMIT);
        (void)fprintf(to, ": %s, %s samples in %s</text>\n", what, COUNT_TEXT(samples), DURATION_TEXT(p->elapsed_ns));
        if (of->all_weight)
                put_box(to, of, "(all)", &of->boxes[0], of->all_weight, samples);
        for (uint32_t id = 1; id <= time_tree_count(of->tree); id++) {
                const struct time_node *node = time_tree_nth(of->tree, id);
                put_box(to, of, name_without_package(stack_profile_name(p, node->name)), &of->boxes[id],
                        node->total_weight, node->total_samples);
        }
        (void)fputs("</svg>\n", to);
}

bool profile_write_svg(FILE *to, const struct stack_profile *p, const char *program)
{
        struct picture running, waiting;
        const bool made = picture_make(&running, &p->running, p->by_allocation);
        const bool good = picture_make(&waiting, &p->waiting, false) && made;

        if (good) {
                const unsigned height = running.height + (p->with_waiting ? waiting.height : 0);
                (void)fprintf(to,
                              "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %u\" width=\"%.0f\" "
                              "height=\"%u\" font-family=\"monospace\" font-size=\"11\">\n<style>g{cursor:pointer}"
                              "g:hover rect{stroke:#000}</style>\n"
                              "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                              WIDTH, height, WIDTH, height);
                put_picture(to, p, &running, 0, program, p->by_allocation ? "allocation" : "CPU time");
                if (p->with_waiting)
                        put_picture(to, p, &waiting, running.height, program, "waiting, by Haskell thread");
                (void)fputs(script, to);
                (void)fputs("</svg>\n", to);
        }
        free(running.boxes);
        free(waiting.boxes);
        return good;
}
