/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.S - the built page's files as bytes, found by the assembler's include path; empty when there is no page. */
#define EMBED(name, file)       \
        .global name;           \
        .global name##_end;     \
name:;                          \
        .incbin file;           \
name##_end:;                    \
        .byte 0

        .section .rodata
EMBED(hw_page_index, "index.html")
EMBED(hw_page_js, "app.js")
EMBED(hw_page_early, "early.js")
EMBED(hw_page_css, "app.css")
EMBED(hw_page_report, "report.html")

        .section .note.GNU-stack, "", %progbits
