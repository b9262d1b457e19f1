/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.h - keys as numbers: a character is its code point, other keys are above all code points. */
#pragma once

enum key_code {
        SCREEN_NONE = 0,
        /* printable keys are themselves */
        SCREEN_UP = 0x110000,
        SCREEN_DOWN,
        SCREEN_LEFT,
        SCREEN_RIGHT,
        SCREEN_PAGE_UP,
        SCREEN_PAGE_DOWN,
        SCREEN_HOME,
        SCREEN_END,
        SCREEN_ENTER,
        SCREEN_TAB,
        SCREEN_ESCAPE,
        SCREEN_BACKSPACE,
        SCREEN_RESIZED,
        SCREEN_CLICK, /* screen_mouse says where */
        SCREEN_CLICK_TWICE,
        SCREEN_WHEEL_UP,
        SCREEN_WHEEL_DOWN,
        SCREEN_F0 /* + N: the N-th function key */
};
