/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/program_command.h"

#include <string.h>

#include "proto/base/agent_peer.h"
#include "proto/base/array.h"

const struct program_command program_commands[] = {
#define COMMAND(name, space, code, effect, needs) { name, space, code, effect, false },
#define SWITCH(name, space, on, off, effect, needs)                                                                    \
        { name " on", space, on, effect, false }, { name " off", space, off, effect, true },
#include "proto/wire/program_commands.def"
#undef COMMAND
#undef SWITCH
};
const size_t n_program_commands = ARRAY_SIZE(program_commands);

const struct program_command *program_command_find(const char *text)
{
        for (size_t i = 0; i < n_program_commands; i++)
                if (!strcmp(text, program_commands[i].text))
                        return &program_commands[i];
        return NULL;
}

bool program_command_fits(const struct program_command *command, const char *uri)
{
        if (agent_peer_is_uri(uri))
                return command == program_commands;
        return !strncmp(uri, "unix:", strlen("unix:")) || !strncmp(uri, "tcp:", strlen("tcp:"));
}

size_t program_command_message(const struct program_command *command, uint8_t ret[PROGRAM_COMMAND_BYTES])
{
        static const uint8_t head[] = { 0xf0, 0x9e, 0x97, 0x8c, 0 }; /* and the version of the protocol */
        const size_t n = strlen(command->space);

        memcpy(ret, head, sizeof(head));
        ret[sizeof(head)] = (uint8_t)n;
        memcpy(ret + sizeof(head) + 1, command->space, n);
        ret[sizeof(head) + 1 + n] = command->code;
        return sizeof(head) + 1 + n + 1;
}
