/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of eventlog-socket: their names, and the bytes that carry them. */
#include <string.h>

#include "tests/unit/test.h"

#include "proto/wire/program_command.h"

TEST(test_names)
{
        static const char *const none[] = { "",       "census on", "census ", "gc",      "gc of",
                                            "gc on ", "GC on",     "gco on",  "spark on" };

        for (size_t i = 0; i < n_program_commands; i++) {
                const struct program_command *c = &program_commands[i];

                assert_ptr_equal(program_command_find(c->text), c);
                assert_int_equal(c->is_off, strlen(c->text) > 4 && !strcmp(c->text + strlen(c->text) - 4, " off"));
        }
        for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
                assert_null(program_command_find(none[i]));
}

static void check_message(const char *name, const char *bytes, size_t size)
{
        uint8_t message[PROGRAM_COMMAND_BYTES];
        const struct program_command *c = program_command_find(name);

        assert_non_null(c);
        assert_int_equal(program_command_message(c, message), size);
        assert_memory_equal(message, bytes, size);
}

TEST(test_messages)
{
#define MESSAGE(name, bytes) check_message(name, bytes, sizeof(bytes) - 1)
        MESSAGE("census",
                "\xf0\x9e\x97\x8c\0\x0f"
                "eventlog-socket"
                "\x05");
        MESSAGE("heap-profile on",
                "\xf0\x9e\x97\x8c\0\x0f"
                "eventlog-socket"
                "\x03");
        MESSAGE("capabilities off",
                "\xf0\x9e\x97\x8c\0\x0f"
                "eventlog-socket"
                "\x13");
        MESSAGE("stack-samples off",
                "\xf0\x9e\x97\x8c\0\x12"
                "ghc-stack-profiler"
                "\x02");
}
