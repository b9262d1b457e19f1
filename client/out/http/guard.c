/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - Host, Origin and token. */
#include "client/out/http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "proto/base/error.h"
#include "proto/base/private_directory.h"

#define HOST_MAX 256

/* The name of "name:port", "[v6]:port" in `out`, without brackets. False: malformed. */
static bool host_name(const char *host, char out[HOST_MAX], bool *ret_bracketed)
{
        size_t n;
        const char *rest;

        *ret_bracketed = host[0] == '[';
        if (*ret_bracketed) {
                host++;
                n = strcspn(host, "]");
                if (host[n] != ']')
                        return false;
                rest = host + n + 1;
        } else {
                n = strcspn(host, ":");
                rest = host + n;
        }
        if (!n || n >= HOST_MAX || (*rest && (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1))))
                return false;
        memcpy(out, host, n);
        out[n] = '\0';
        return true;
}

/* An address as 16 bytes, those of IPv4 mapped into IPv6. */
static bool address_bytes(const char *text, unsigned char out[16])
{
        static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

        if (inet_pton(AF_INET6, text, out) == 1)
                return true;
        memcpy(out, mapped, sizeof(mapped));
        return inet_pton(AF_INET, text, out + 12) == 1;
}

static bool is_loopback(const unsigned char a[16])
{
        static const unsigned char mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
        static const unsigned char one[16] = { [15] = 1 };

        return !memcmp(a, mapped, sizeof(mapped)) || !memcmp(a, one, sizeof(one));
}

/* Whether `name` is the address `local`; all loopback addresses count as one. */
static bool is_address(const char *name, bool bracketed, const char *local)
{
        unsigned char named[16], ours[16];

        if (bracketed != (strchr(name, ':') != NULL) || !address_bytes(name, named) || !address_bytes(local, ours))
                return false;
        return !memcmp(named, ours, sizeof(ours)) || (is_loopback(named) && is_loopback(ours));
}

static bool is_localhost(const char *name, const char *local)
{
        unsigned char ours[16];

        return !strcasecmp(name, "localhost") && (!local[0] || (address_bytes(local, ours) && is_loopback(ours)));
}

bool guard_host(const struct guard *g, const char *host, const char *local)
{
        char name[HOST_MAX];
        bool bracketed;

        if (!host || !host_name(host, name, &bracketed))
                return false;
        if (is_address(name, bracketed, local) || (!bracketed && is_localhost(name, local)))
                return true;
        for (size_t i = 0; i < g->n_hosts; i++) {
                if (!strcasecmp(g->hosts[i], name))
                        return true;
        }
        return false;
}

bool guard_origin(const char *origin, const char *host)
{
        if (!origin)
                return true;
        if (!host)
                return false;
        if (!strncasecmp(origin, "http://", 7))
                return !strcasecmp(origin + 7, host);
        return !strncasecmp(origin, "https://", 8) && !strcasecmp(origin + 8, host); /* TLS is terminated by a proxy */
}

bool guard_equal(const char *a, const char *b)
{
        size_t n_a = strlen(a), n_b = strlen(b);
        unsigned char differ = n_a != n_b;

        for (size_t i = 0; i < n_a; i++)
                differ |= (unsigned char)(a[i] ^ b[n_b ? i % n_b : 0]);
        return !differ;
}

/* The value of the cookie `name` in a Cookie header. */
static bool cookie_value(const char *cookie, const char *name, char out[TOKEN_MOST + 1])
{
        size_t length = strlen(name);

        while (*cookie) {
                size_t n;

                cookie += strspn(cookie, "; ");
                n = strcspn(cookie, ";");
                if (n > length && !strncmp(cookie, name, length) && cookie[length] == '=' &&
                    n - length - 1 <= TOKEN_MOST) {
                        n -= length + 1;
                        memcpy(out, cookie + length + 1, n);
                        out[n] = '\0';
                        return true;
                }
                cookie += n;
        }
        return false;
}

const struct guard_token *guard_find(const struct guard *g, const char *text)
{
        const struct guard_token *found = NULL;

        for (size_t i = 0; i < g->n_tokens; i++)
                if (guard_equal(text, g->tokens[i].text)) /* all of them, so that the time says nothing */
                        found = &g->tokens[i];
        return found;
}

const struct guard_token *guard_token(const struct guard *g, const char *authorization, const char *cookie)
{
        static const struct guard_token anyone = { .name = "anyone", .role = ROLE_READ };
        const struct guard_token *found = NULL;
        char value[TOKEN_MOST + 1];

        if (g->n_tokens == 0)
                return &anyone;
        if (authorization && !strncasecmp(authorization, "Bearer ", 7))
                found = guard_find(g, authorization + 7);
        return found || !cookie || !cookie_value(cookie, g->cookie, value) ? found : guard_find(g, value);
}

/* Whether a token is long enough, and can appear in a cookie, a header and a URL as it is. */
static bool is_usable(const char *text)
{
        return strlen(text) >= TOKEN_LEAST && strlen(text) <= TOKEN_MOST &&
               strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/=-") == strlen(text);
}

/* "NAME ROLE TOKEN"; the line is cut up. NULL, or what is wrong. */
static const char *parse_line(struct guard *g, char *line)
{
        struct guard_token *t = &g->tokens[g->n_tokens];
        char *save = NULL, *name = strtok_r(line, " \t", &save), *role = strtok_r(NULL, " \t", &save),
             *text = strtok_r(NULL, " \t", &save);

        if (!text || strtok_r(NULL, " \t", &save))
                return "expected NAME ROLE TOKEN";
        if (g->n_tokens == TOKENS_MOST)
                return "there are too many tokens";
        if (!key_name_valid(name))
                return "the name may have 1 to 64 of A-Z a-z 0-9 . _ @ -";
        if (!role_parse(role, &t->role))
                return "expected one of the roles read, silence or control";
        if (!is_usable(text))
                return "expected a token of 16 to 512 letters, digits or ._~+/=-";
        if (guard_find(g, text))
                return "another line has this token";
        (void)snprintf(t->name, sizeof(t->name), "%s", name);
        (void)snprintf(t->text, sizeof(t->text), "%s", text);
        g->n_tokens++;
        return NULL;
}

static bool parse_lines(struct guard *g, char *text, const char *path, struct error *error)
{
        unsigned number = 1;

        for (char *line = text, *next; line; line = next, number++) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = '\0';
                line[strcspn(line, "\r")] = '\0';
                line += strspn(line, " \t");
                const char *wrong = *line && *line != '#' ? parse_line(g, line) : NULL;
                if (wrong)
                        return error_set(error, "%s:%u: %s", path, number, wrong);
        }
        return g->n_tokens > 0 || error_set(error, "%s: there is no token in it", path);
}

/* The one token that there is, which may do everything; its text follows. */
static char *only_token(struct guard *g)
{
        g->tokens[0] = (struct guard_token){ .name = "token", .role = ROLE_CONTROL };
        g->n_tokens = 1;
        return g->tokens[0].text;
}

bool guard_read_token(struct guard *g, const char *path, struct error *error)
{
        char text[TOKENS_MOST * (TOKEN_MOST + KEY_NAME_MAX + 32)];
        bool good = private_file_read(path, text, sizeof(text), error);
        const size_t first = good ? strcspn(text, "\r\n") : 0;

        g->n_tokens = 0;
        if (good && (memchr(text, ' ', first) || memchr(text, '\t', first) || *text == '#')) {
                good = parse_lines(g, text, path, error);
        } else if (good) {
                text[first] = '\0';
                good = is_usable(text) ||
                       error_set(error,
                                 "%s: expected a token of %d to %d letters, digits or ._~+/=- in its "
                                 "first line, or lines "
                                 "NAME ROLE TOKEN; make one with: openssl rand -hex 24",
                                 path, TOKEN_LEAST, TOKEN_MOST);
                if (good)
                        memcpy(only_token(g), text, first + 1); /* usable: at most TOKEN_MOST letters */
        }
        explicit_bzero(text, sizeof(text));
        return good;
}

bool guard_make_token(struct guard *g)
{
        unsigned char random[24];

        if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
                return false;
        char *text = only_token(g);
        for (size_t i = 0; i < sizeof(random); i++)
                (void)snprintf(text + 2 * i, 3, "%02x", random[i]);
        return true;
}
