/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/source/census_reader.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heapwatch/text.h"

static uint64_t memory_bytes = UINT64_C(1) << 30;

void inspector_set_memory(uint64_t bytes)
{
        memory_bytes = bytes;
}

void inspector_print_memory(char ret[INSPECTOR_MEMORY])
{
        (void)snprintf(ret, INSPECTOR_MEMORY, "%" PRIu64, memory_bytes);
}

void inspector_sentence(int err, char ret[INSPECTOR_SENTENCE])
{
        char text[INSPECTOR_SENTENCE];
        const ssize_t n = err >= 0 ? read(err, text, sizeof(text) - 1) : -1;

        text[n > 0 ? n : 0] = '\0';
        text[strcspn(text, "\n")] = '\0';
        (void)hw_terminal_text(ret, INSPECTOR_SENTENCE, text);
}

/* It is not waited for longer than a moment. */
void inspector_end(pid_t *child)
{
        const struct timespec pause = { .tv_nsec = 1000000 };

        if (*child <= 0)
                return;
        (void)kill(*child, SIGKILL);
        for (int i = 0; i < 100 && waitpid(*child, NULL, WNOHANG) == 0; i++)
                (void)nanosleep(&pause, NULL);
        *child = 0;
}
