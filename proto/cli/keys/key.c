/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * key.c - DESIGN: a file of three lines, "name: ", "public: ", "secret: ", in any order, and comments. No YAML: a
 * parser that reports a mistake quotes the text, which may be the secret. The public half is computed from the secret
 * when it is read; a file in which they do not match is refused.
 */
#include "proto/cli/keys/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "proto/base/error.h"
#include "proto/base/private_directory.h"
#include "proto/base/whole_file.h"

#define FILE_MAX 4096u
#define Z85_TEXT 41u

const char *const role_names[] = { "read", "silence", "control", NULL };

/* ------------------------------------------------------------------- words */

bool key_name_valid(const char *name)
{
        static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-";
        const size_t n = strspn(name, letters);

        return n > 0 && n <= KEY_NAME_MAX && name[n] == '\0' && *name != '.' && *name != '-';
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool key_parse(const char *text, uint8_t ret_key[KEY_BYTES])
{
        uint8_t key[KEY_BYTES];

        if (strlen(text) != KEY_TEXT - 1)
                return false;
        for (size_t i = 0; i < KEY_BYTES; i++) {
                const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
                if (high < 0 || low < 0)
                        return false;
                key[i] = (uint8_t)(high * 16 + low);
        }
        memcpy(ret_key, key, KEY_BYTES);
        explicit_bzero(key, sizeof(key));
        return true;
}

void key_print(const uint8_t key[KEY_BYTES], char ret_text[KEY_TEXT])
{
        static const char digits[] = "0123456789abcdef";

        for (size_t i = 0; i < KEY_BYTES; i++) {
                ret_text[2 * i] = digits[key[i] >> 4];
                ret_text[2 * i + 1] = digits[key[i] & 15];
        }
        ret_text[2 * KEY_BYTES] = '\0';
}

const char *role_name(enum key_role role)
{
        return role_names[role];
}

bool role_parse(const char *text, enum key_role *ret_role)
{
        for (unsigned i = 0; role_names[i]; i++) {
                if (strcmp(role_names[i], text) != 0)
                        continue;
                *ret_role = (enum key_role)i;
                return true;
        }
        return false;
}

bool keys_directory(char *ret_path, size_t size, struct error *error)
{
        const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
        int n = -1;

        if (config && *config == '/')
                n = snprintf(ret_path, size, "%s/heapwatch/keys", config);
        else if (home && *home == '/')
                n = snprintf(ret_path, size, "%s/.config/heapwatch/keys", home);
        if (n < 0)
                return error_set(error, "HOME is not set, below which keys are kept: name their directory");
        return (size_t)n < size || error_set(error, "%s: the path is too long", ret_path);
}

/* ------------------------------------------------------------------- pairs */

bool key_pair_new(struct key_pair *pair, const char *name, struct error *error)
{
        char public[Z85_TEXT], secret[Z85_TEXT];

        if (!key_name_valid(name))
                return error_set(error, "'%.80s' cannot be a key's name: 1 to %u of A-Z a-z 0-9 . _ @ -", name,
                                 KEY_NAME_MAX);
        if (zmq_curve_keypair(public, secret) != 0)
                return error_set(error, "this libzmq has no CURVE: %s", zmq_strerror(errno));
        (void)snprintf(pair->name, sizeof(pair->name), "%s", name);
        (void)zmq_z85_decode(pair->public, public);
        (void)zmq_z85_decode(pair->secret, secret);
        explicit_bzero(secret, sizeof(secret));
        return true;
}

/* The public half that belongs to a secret one. */
static bool public_of(const uint8_t secret[KEY_BYTES], uint8_t ret_public[KEY_BYTES])
{
        char text[Z85_TEXT], public[Z85_TEXT];
        bool good = zmq_z85_encode(text, secret, KEY_BYTES) && zmq_curve_public(public, text) == 0 &&
                    zmq_z85_decode(ret_public, public);

        explicit_bzero(text, sizeof(text));
        return good;
}

/* The value of a line "field: value"; NULL: it is another field. */
static const char *value_of(const char *line, const char *field)
{
        const size_t n = strlen(field);

        if (strncmp(line, field, n) != 0 || line[n] != ':')
                return NULL;
        return line + n + 1 + strspn(line + n + 1, " \t");
}

/* Takes the lines of `text`, which is cut up. NULL, or what is wrong. */
static const char *parse_lines(struct key_pair *pair, char *text)
{
        bool has_name = false, has_public = false, has_secret = false;
        uint8_t public[KEY_BYTES];
        char *save = NULL;
        const char *value;

        for (char *line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
                if ((value = value_of(line, "name")) && key_name_valid(value)) {
                        (void)snprintf(pair->name, sizeof(pair->name), "%s", value);
                        has_name = true;
                } else if ((value = value_of(line, "public")) && key_parse(value, public)) {
                        has_public = true;
                } else if ((value = value_of(line, "secret")) && key_parse(value, pair->secret)) {
                        has_secret = true;
                } else if (line[strspn(line, " \t")] != '#' && line[strspn(line, " \t")] != '\0') {
                        return "has a line that is neither a name nor a public or secret key";
                }
        }
        if (!has_name || !has_secret)
                return has_name ? "has no secret key" : "has no name";
        if (!public_of(pair->secret, pair->public))
                return "cannot be used: this libzmq has no CURVE";
        return has_public && memcmp(public, pair->public, KEY_BYTES) != 0
                       ? "has a public and a secret key that do not belong together"
                       : NULL;
}

bool key_pair_read(struct key_pair *pair, const char *path, struct error *error)
{
        char text[FILE_MAX];

        *pair = (struct key_pair){ .name = "" };
        if (!private_file_read(path, text, sizeof(text), error))
                return false;
        const char *wrong = parse_lines(pair, text);
        explicit_bzero(text, sizeof(text));
        if (!wrong)
                return true;
        key_pair_wipe(pair);
        return error_set(error, "%s: %s; expected a file that `heapwatch keys new` has made", path, wrong);
}

bool key_pair_write(const struct key_pair *pair, const char *path, struct error *error)
{
        char public[KEY_TEXT], secret[KEY_TEXT], text[FILE_MAX];

        key_print(pair->public, public);
        key_print(pair->secret, secret);
        int n = snprintf(text, sizeof(text),
                         "# The key of %s, for heapwatch. Whoever has the secret is taken for %s: it stays on this "
                         "machine.\nname: %s\npublic: %s\nsecret: %s\n",
                         pair->name, pair->name, pair->name, public, secret);
        int r = whole_file_write(path, text, (size_t)n);
        explicit_bzero(text, sizeof(text));
        explicit_bzero(secret, sizeof(secret));
        return r == 0 || error_set(error, "%s: %s", path, strerror(-r));
}

void key_pair_wipe(struct key_pair *pair)
{
        explicit_bzero(pair, sizeof(*pair));
}
