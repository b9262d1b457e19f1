/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/program_command.h"

#include <string.h>

#include "proto/base/array.h"

#define LIBRARY "eventlog-socket"
#define SAMPLER "ghc-stack-profiler"

const struct program_command program_commands[] = {
        { "census", LIBRARY, 5, 0, EFFECT_CENSUS },       { "heap-profile", LIBRARY, 3, 4, EFFECT_CENSUS },
        { "time-profile", LIBRARY, 1, 2, EFFECT_TICKS },  { "stack-samples", SAMPLER, 1, 2, EFFECT_TICKS },
        { "scheduler", LIBRARY, 6, 7, EFFECT_THREADS },   { "gc", LIBRARY, 8, 9, EFFECT_COLLECTIONS },
        { "nonmoving", LIBRARY, 10, 11, EFFECT_CYCLES },  { "sparks", LIBRARY, 12, 13, EFFECT_SPARKS },
        { "each-spark", LIBRARY, 14, 15, EFFECT_NONE },   { "user", LIBRARY, 16, 17, EFFECT_NOTES },
        { "capabilities", LIBRARY, 18, 19, EFFECT_NONE },
};
const size_t n_program_commands = ARRAY_SIZE(program_commands);

const struct program_command *program_command_find(const char *text, uint8_t *ret_code)
{
        for (size_t i = 0; i < n_program_commands; i++) {
                const struct program_command *c = &program_commands[i];
                const size_t n = strlen(c->name);
                const char *rest = text + n;

                if (strncmp(text, c->name, n) != 0)
                        continue;
                *ret_code = !strcmp(rest, c->off ? " on" : "") ? c->on : c->off && !strcmp(rest, " off") ? c->off : 0;
                if (*ret_code)
                        return c;
        }
        return NULL;
}

size_t program_command_message(const struct program_command *command, uint8_t code, uint8_t ret[PROGRAM_COMMAND_BYTES])
{
        static const uint8_t head[] = { 0xf0, 0x9e, 0x97, 0x8c, 0 }; /* and the version of the protocol */
        const size_t n = strlen(command->space);

        memcpy(ret, head, sizeof(head));
        ret[sizeof(head)] = (uint8_t)n;
        memcpy(ret + sizeof(head) + 1, command->space, n);
        ret[sizeof(head) + 1 + n] = code;
        return sizeof(head) + 1 + n + 1;
}
