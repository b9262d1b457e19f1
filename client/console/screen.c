/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.c - canvas to terminal by ncursesw, which keeps what the terminal
 * shows and sends the difference: no flicker, little traffic over ssh.
 *
 * Only cells that differ from the previous frame are handed to curses.
 *
 * Colours are used sparingly on the terminal's own background: muted ones of
 * the 256 where available, otherwise the eight; with NO_COLOR and on terminals
 * without colour only bold, dim and reverse remain.
 */
#define NCURSES_WIDECHAR 1
#include "client/console/console.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/array.h"
#include "proto/base/clock.h"

static attr_t attributes[TINTS];
static short pairs[TINTS];
static int held_fd = -1, saved_fd = -1; /* while standard error is held: where it goes, what it was */
static SCREEN *terminal;
static struct screen_cell *drawn; /* what was handed to curses, drawn_height * drawn_width cells */
static int drawn_height, drawn_width;
static int mouse_row, mouse_column;

bool screen_possible(void)
{
        const char *term = getenv("TERM");

        return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

bool screen_has_utf8(void)
{
        return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void screen_hold_messages(void)
{
        if (!isatty(STDERR_FILENO))
                return;
        held_fd = memfd_create("messages", MFD_CLOEXEC);
        saved_fd = dup(STDERR_FILENO);
        if (held_fd >= 0 && saved_fd >= 0)
                (void)dup2(held_fd, STDERR_FILENO);
}

void screen_release_messages(void)
{
        char text[4096];
        ssize_t n;

        if (held_fd < 0 || saved_fd < 0)
                return;
        (void)dup2(saved_fd, STDERR_FILENO);
        (void)lseek(held_fd, 0, SEEK_SET);
        while ((n = read(held_fd, text, sizeof(text))) > 0)
                (void)!write(STDERR_FILENO, text, (size_t)n);
        (void)close(held_fd);
        (void)close(saved_fd);
        held_fd = saved_fd = -1;
}

/* A tint in 256 colours, in 8 (-1: the terminal's own), and without colours. */
struct look {
        short fine, fine_back;     /* of 256 */
        short coarse, coarse_back; /* of 8 */
        attr_t attribute;          /* with colours */
        attr_t bare;               /* without */
};

static const struct look looks[TINTS] = {
        [TINT_PLAIN] = { -1, -1, -1, -1, A_NORMAL, A_NORMAL },
        [TINT_STRONG] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
        [TINT_DIM] = { 245, -1, -1, -1, A_NORMAL, A_DIM },
        [TINT_GOOD] = { 108, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL },
        [TINT_WARN] = { 179, -1, COLOR_YELLOW, -1, A_NORMAL, A_BOLD },
        [TINT_BAD] = { 167, -1, COLOR_RED, -1, A_BOLD, A_BOLD | A_UNDERLINE },
        [TINT_GRAPH] = { 73, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL },
        [TINT_SELECTED] = { 255, 24, -1, -1, A_NORMAL, A_REVERSE },
        [TINT_HEADING] = { 250, 236, -1, -1, A_NORMAL, A_UNDERLINE },
        [TINT_HEADING_STRONG] = { 255, 236, -1, -1, A_BOLD, A_BOLD | A_UNDERLINE },
        [TINT_HEADING_KEY] = { 73, 236, COLOR_CYAN, -1, A_NORMAL, A_BOLD | A_UNDERLINE },
        [TINT_KEY] = { 73, -1, COLOR_CYAN, -1, A_NORMAL, A_BOLD },
        [TINT_LINE_1] = { 114, -1, COLOR_GREEN, -1, A_NORMAL, A_BOLD },
        [TINT_LINE_2] = { 74, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL },
        [TINT_LINE_3] = { 140, -1, COLOR_MAGENTA, -1, A_NORMAL, A_NORMAL },
        [TINT_LINE_4] = { 173, -1, COLOR_YELLOW, -1, A_NORMAL, A_DIM },
        [TINT_MARK] = { 222, -1, COLOR_YELLOW, -1, A_NORMAL, A_BOLD },
        [TINT_FAINT] = { 238, -1, -1, -1, A_NORMAL, A_DIM },
};

bool screen_has_colours(void)
{
        const char *no_color = getenv("NO_COLOR");

        return has_colors() && !(no_color && *no_color);
}

static void set_all_attributes(void)
{
        bool colours = screen_has_colours();

        if (colours) {
                (void)start_color();
                (void)use_default_colors();
        }
        for (int i = 0; i < TINTS; i++) {
                enum tint which = (enum tint)i;
                const struct look *l = &looks[which];
                bool fine = COLORS >= 256;
                short fore = fine ? l->fine : l->coarse, back = fine ? l->fine_back : l->coarse_back;
                bool lost = !fine && l->fine_back >= 0; /* a bar that eight colours cannot show */

                attributes[which] = colours && !lost ? l->attribute : l->bare;
                if (colours && !fine && (which == TINT_DIM || which == TINT_FAINT))
                        attributes[which] = A_DIM;
                pairs[which] = 0;
                if (colours && (fore >= 0 || back >= 0) && init_pair((short)(which + 1), fore, back) == OK)
                        pairs[which] = (short)(which + 1);
        }
}

int screen_open(void)
{
        terminal = newterm(NULL, stdout, stdin); /* unlike initscr it does not exit on an unknown TERM */
        if (!terminal)
                return -ENOTTY;
        (void)set_term(terminal);
        (void)cbreak();
        (void)noecho();
        (void)nonl();
        (void)keypad(stdscr, TRUE);
        (void)nodelay(stdscr, TRUE);
        (void)set_escdelay(50);
        (void)curs_set(0);
        set_all_attributes();
        (void)mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED,
                        NULL);
        (void)mouseinterval(0); /* waiting for a second click would delay the first */
        drawn_height = drawn_width = 0;
        return 0;
}

void screen_close(void)
{
        if (!terminal)
                return;
        (void)endwin();
        delscreen(terminal);
        terminal = NULL;
        free(drawn);
        drawn = NULL;
}

void screen_size(int *ret_height, int *ret_width)
{
        getmaxyx(stdscr, *ret_height, *ret_width);
}

static void show_cell(int row, int column, const struct screen_cell *cell)
{
        wchar_t wide[sizeof(cell->text)];
        cchar_t out;

        if (mbstowcs(wide, cell->text, sizeof(cell->text)) == (size_t)-1 || !wide[0])
                return; /* the right half of a wide character */
        wide[CCHARW_MAX - 1] = L'\0';
        if (setcchar(&out, wide, attributes[cell->tint], pairs[cell->tint], NULL) == OK)
                (void)mvadd_wch(row, column, &out);
}

/* Forgets what is drawn when the size has changed, so that every cell is drawn again. */
static bool fit_canvas(const struct canvas *c)
{
        struct screen_cell *cells;

        if (drawn && c->height == drawn_height && c->width == drawn_width)
                return true;
        cells = calloc((size_t)c->height * (size_t)c->width, sizeof(*cells));
        if (!cells)
                return false;
        (void)erase();
        free(drawn);
        drawn = cells;
        for (size_t i = 0; i < (size_t)c->height * (size_t)c->width; i++)
                drawn[i].tint = UINT8_MAX;
        drawn_height = c->height;
        drawn_width = c->width;
        return true;
}

/* The row is drawn again from the first difference, because a wide character covers two cells. */
static void show_row(const struct canvas *c, int row, int width)
{
        struct screen_cell *before = &drawn[(size_t)row * (size_t)c->width];
        const struct screen_cell *now = canvas_cell(c, row, 0);
        bool wide = false;

        for (int i = 0; i < c->width; i++)
                wide = wide || !now[i].text[0] || !before[i].text[0];
        for (int i = 0; i < c->width && i < width; i++) {
                if (wide || memcmp(&now[i], &before[i], sizeof(now[i])))
                        show_cell(row, i, &now[i]);
        }
        memcpy(before, now, (size_t)c->width * sizeof(*now));
}

void screen_show(const struct canvas *c)
{
        int height, width;

        screen_size(&height, &width);
        if (!fit_canvas(c))
                return;
        for (int row = 0; row < c->height && row < height; row++) {
                if (memcmp(&drawn[(size_t)row * (size_t)c->width], canvas_cell(c, row, 0),
                           (size_t)c->width * sizeof(*drawn)))
                        show_row(c, row, width);
        }
        (void)refresh();
}

void screen_mouse(int *ret_row, int *ret_column)
{
        *ret_row = mouse_row;
        *ret_column = mouse_column;
}

/* Two presses at one place within 400 ms are a double click. */
static int read_mouse(void)
{
        static uint64_t pressed_ms;
        MEVENT e;
        bool twice;

        if (getmouse(&e) != OK)
                return SCREEN_NONE;
        if (e.bstate & BUTTON4_PRESSED)
                return SCREEN_WHEEL_UP;
        if (e.bstate & BUTTON5_PRESSED)
                return SCREEN_WHEEL_DOWN;
        if (!(e.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED)))
                return SCREEN_NONE;
        twice = e.y == mouse_row && e.x == mouse_column && clock_mono_ms() - pressed_ms < 400;
        mouse_row = e.y;
        mouse_column = e.x;
        pressed_ms = twice ? 0 : clock_mono_ms();
        return twice || (e.bstate & BUTTON1_DOUBLE_CLICKED) ? SCREEN_CLICK_TWICE : SCREEN_CLICK;
}

static int special_key(wint_t key)
{
        static const struct {
                wint_t key;
                int code;
        } codes[] = {
                { KEY_UP, SCREEN_UP },          { KEY_DOWN, SCREEN_DOWN },
                { KEY_LEFT, SCREEN_LEFT },      { KEY_RIGHT, SCREEN_RIGHT },
                { KEY_PPAGE, SCREEN_PAGE_UP },  { KEY_NPAGE, SCREEN_PAGE_DOWN },
                { KEY_HOME, SCREEN_HOME },      { KEY_END, SCREEN_END },
                { KEY_ENTER, SCREEN_ENTER },    { KEY_BACKSPACE, SCREEN_BACKSPACE },
                { KEY_RESIZE, SCREEN_RESIZED },
        };

        if (key > KEY_F0 && key <= KEY_F(12))
                return SCREEN_F0 + (int)(key - KEY_F0);
        for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
                if (codes[i].key == key)
                        return codes[i].code;
        return key == KEY_MOUSE ? read_mouse() : SCREEN_NONE;
}

int screen_key(void)
{
        wint_t key;
        int r = get_wch(&key);

        if (r == KEY_CODE_YES)
                return special_key(key);
        if (r != OK)
                return SCREEN_NONE;
        switch (key) {
        case '\r':
        case '\n':
                return SCREEN_ENTER;
        case '\t':
                return SCREEN_TAB;
        case 27:
                return SCREEN_ESCAPE;
        case 8:
        case 0x7f:
                return SCREEN_BACKSPACE;
        default:
                return (int)key;
        }
}
