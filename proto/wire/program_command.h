/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_command.h - what a program that serves its log by the library eventlog-socket (built with its flag control)
 * can be asked for on the connection that the log comes from. It never answers: only an effect in its log tells.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What of the log shows that a command had an effect. */
enum program_effect {
        EFFECT_CENSUS,
        EFFECT_TICKS,
        EFFECT_THREADS,
        EFFECT_COLLECTIONS,
        EFFECT_CYCLES,
        EFFECT_SPARKS,
        EFFECT_NOTES,
        EFFECT_NONE /* nothing of it is regular */
};

struct program_command {
        const char *text;  /* "census", "gc off" */
        const char *space; /* of commands: the library, or another package that registers its own */
        uint8_t code;      /* in that space */
        enum program_effect effect;
        bool is_off; /* the effect is that it no longer comes */
};

extern const struct program_command program_commands[]; /* program_commands.def */
extern const size_t n_program_commands;

/* NULL: there is none of that text. */
const struct program_command *program_command_find(const char *text);

/*
 * Whether the program whose log is read from this URI can take it: any that serves its log itself, the first alone, a
 * census, one with the agent, which has requests of its own.
 */
bool program_command_fits(const struct program_command *command, const char *uri);

#define PROGRAM_COMMAND_BYTES 64u

/* The message that carries it; returns its size. */
size_t program_command_message(const struct program_command *command, uint8_t ret[PROGRAM_COMMAND_BYTES]);
