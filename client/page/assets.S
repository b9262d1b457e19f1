/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.S - the built page as bytes, found by the assembler's include path; empty when there is no page. */
#define EMBED(name, file)       \
        .global name;           \
        .global name##_end;     \
name:;                          \
        .incbin file;           \
name##_end:;                    \
        .byte 0

        .section .rodata
EMBED(hw_page, "page.html")
EMBED(hw_page_policy, "policy")

        .section .note.GNU-stack, "", %progbits
