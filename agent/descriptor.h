/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor.h - our open files in a program that does not know about them.
 *
 * A program may close all descriptors it does not know, and open files in their
 * place: before each use ours are compared with what they were.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct descriptor {
        int fd; /* -1: none */
        dev_t device;
        ino_t inode;
};

/* Takes `fd`, at a high number, closed on exec. False: it is not open. */
bool descriptor_adopt(struct descriptor *d, int fd);

/* Whether it is still ours: otherwise it is the program's, and left alone. */
bool descriptor_ours(struct descriptor *d);

void descriptor_close(struct descriptor *d);

/*
 * Reads a file of /proc as far as it fits, ends the text with '\0', and closes it. Returns how many bytes it read, '\0'
 * among them or not; 0: it is empty, or cannot be read.
 */
size_t read_proc_file(const char *path, char *text, size_t size);
