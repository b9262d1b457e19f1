/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h - the settings that have one value: what the command line and the file call them, and what they may be.
 *
 * A value is checked and stored in the same way wherever it comes from. The command line wins over the file.
 */
#ifndef HW_DAEMON_CONFIG_SETTINGS_H
#define HW_DAEMON_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config/config.h"
#include "proto/base/error.h"

struct setting;

/* Sets what an option of the command line sets. False with what is wrong in `error`, to be shown behind its name. */
bool setting_give(struct config *c, const char *option, const char *value, struct error *error);

/* The setting of a key in a section of the file (NULL: in none); NULL: there is no such setting. */
const struct setting *setting_of_key(const char *section, const char *key);

/* The keys of a section, at most SETTINGS_OF_SECTION; returns how many there are, 0 for none that is a section. */
#define SETTINGS_OF_SECTION 8u
size_t settings_of_section(const char *section, const char *ret_keys[SETTINGS_OF_SECTION]);

/* What the file may give: for messages, and how many bytes at most. */
const char *setting_expected(const struct setting *s);
size_t setting_longest(const struct setting *s);

/* Sets what the file gives; a value of the command line stays. False as setting_give(). */
bool setting_add(struct config *c, const struct setting *s, const char *value, struct error *error);

/* directory.c: a directory as typed. */

/* Makes it absolute. False with a sentence; `to` is then "". */
bool config_directory(char *to, size_t size, const char *value, struct error *error);

#endif
