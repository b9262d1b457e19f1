/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * screen.c - canvas to terminal by ncursesw, which keeps what the terminal
 * shows and sends the difference: no flicker, little traffic over ssh.
 *
 * Colours are the terminal's own eight on its own background, used
 * sparingly; NO_COLOR leaves bold, dim and reverse.
 */
#define NCURSES_WIDECHAR 1
#include "client/console/screen.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static attr_t attributes[TINTS];
static short pairs[TINTS];
static int held_fd = -1, saved_fd = -1; /* standard error while it is held: where it goes, what it was */
static SCREEN *terminal;

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

static void tint(enum tint which, attr_t attribute, short colour)
{
        const char *no_color = getenv("NO_COLOR");

        attributes[which] = attribute;
        pairs[which] = 0;
        if (colour < 0 || !has_colors() || (no_color && *no_color))
                return;
        if (init_pair((short)(which + 1), colour, -1) == OK)
                pairs[which] = (short)(which + 1);
}

static void choose_tints(void)
{
        if (has_colors()) {
                (void)start_color();
                (void)use_default_colors();
        }
        tint(TINT_PLAIN, A_NORMAL, -1);
        tint(TINT_STRONG, A_BOLD, -1);
        tint(TINT_DIM, A_DIM, -1);
        tint(TINT_GOOD, A_NORMAL, COLOR_GREEN);
        tint(TINT_WARN, A_NORMAL, COLOR_YELLOW);
        tint(TINT_BAD, A_BOLD, COLOR_RED);
        tint(TINT_GRAPH, A_NORMAL, COLOR_CYAN);
        tint(TINT_SELECTED, A_REVERSE, -1);
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
        choose_tints();
        return 0;
}

void screen_close(void)
{
        if (!terminal)
                return;
        (void)endwin();
        delscreen(terminal);
        terminal = NULL;
}

void screen_size(int *ret_height, int *ret_width)
{
        getmaxyx(stdscr, *ret_height, *ret_width);
}

static void show_cell(int row, int column, const struct cell *cell)
{
        wchar_t wide[sizeof(cell->text)];
        cchar_t out;

        if (mbstowcs(wide, cell->text, sizeof(cell->text)) == (size_t)-1 || !wide[0])
                return; /* the right half of a wide character */
        wide[CCHARW_MAX - 1] = L'\0';
        if (setcchar(&out, wide, attributes[cell->tint], pairs[cell->tint], NULL) == OK)
                (void)mvadd_wch(row, column, &out);
}

void screen_show(const struct canvas *c)
{
        int height, width;

        screen_size(&height, &width);
        (void)erase();
        for (int row = 0; row < c->height && row < height; row++) {
                for (int column = 0; column < c->width && column < width; column++)
                        show_cell(row, column, canvas_cell(c, row, column));
        }
        (void)refresh();
}

static int special(wint_t key)
{
        switch (key) {
        case KEY_UP:
                return SCREEN_UP;
        case KEY_DOWN:
                return SCREEN_DOWN;
        case KEY_PPAGE:
                return SCREEN_PAGE_UP;
        case KEY_NPAGE:
                return SCREEN_PAGE_DOWN;
        case KEY_HOME:
                return SCREEN_HOME;
        case KEY_END:
                return SCREEN_END;
        case KEY_ENTER:
                return SCREEN_ENTER;
        case KEY_RESIZE:
                return SCREEN_RESIZED;
        default:
                return SCREEN_NONE;
        }
}

int screen_key(void)
{
        wint_t key;
        int r = get_wch(&key);

        if (r == KEY_CODE_YES)
                return special(key);
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
        default:
                return (int)key;
        }
}
