/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - Host, Origin and token. */
#include "client/web/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

bool guard_host(const struct guard *g, const char *host)
{
        char name[HOST_MAX];
        unsigned char address[16];
        bool bracketed;

        if (!host || !host_name(host, name, &bracketed))
                return false;
        if (bracketed)
                return inet_pton(AF_INET6, name, address) == 1;
        if (inet_pton(AF_INET, name, address) == 1 || !strcasecmp(name, "localhost"))
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
        return !strncasecmp(origin, "https://", 8) && !strcasecmp(origin + 8, host); /* a proxy speaks TLS for us */
}

bool guard_equal(const char *a, const char *b)
{
        size_t n_a = strlen(a), n_b = strlen(b);
        unsigned char differ = n_a != n_b;

        for (size_t i = 0; i < n_a; i++)
                differ |= (unsigned char)(a[i] ^ b[n_b ? i % n_b : 0]);
        return !differ;
}

/* The value of the cookie `heapwatch` in a Cookie header. */
static bool cookie_value(const char *cookie, char out[TOKEN_MOST + 1])
{
        static const char name[] = "heapwatch=";

        while (*cookie) {
                size_t n;

                cookie += strspn(cookie, "; ");
                n = strcspn(cookie, ";");
                if (!strncmp(cookie, name, sizeof(name) - 1) && n - (sizeof(name) - 1) <= TOKEN_MOST) {
                        n -= sizeof(name) - 1;
                        memcpy(out, cookie + sizeof(name) - 1, n);
                        out[n] = '\0';
                        return true;
                }
                cookie += n;
        }
        return false;
}

bool guard_token(const struct guard *g, const char *authorization, const char *cookie)
{
        char value[TOKEN_MOST + 1];

        if (!g->token[0])
                return true;
        if (authorization && !strncasecmp(authorization, "Bearer ", 7) && guard_equal(authorization + 7, g->token))
                return true;
        return cookie && cookie_value(cookie, value) && guard_equal(value, g->token);
}

/* Whether it can stand in a cookie, a header and an address as it is. */
static bool plain(const char *token)
{
        return strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/=-") == strlen(token);
}

bool guard_read_token(struct guard *g, const char *path, char *error, size_t size)
{
        char line[TOKEN_MOST + 3];
        FILE *f = fopen(path, "re");
        size_t n = 0;

        if (!f) {
                (void)snprintf(error, size, "%s: %s", path, strerror(errno));
                return false;
        }
        if (fgets(line, sizeof(line), f))
                n = strcspn(line, "\r\n");
        (void)fclose(f);
        line[n] = '\0';
        if (n < TOKEN_LEAST || n > TOKEN_MOST || !plain(line)) {
                (void)snprintf(error, size,
                               "%s: expected a token of %d to %d letters, digits or ._~+/=- in its first "
                               "line; make one with: openssl rand -hex 24",
                               path, TOKEN_LEAST, TOKEN_MOST);
                return false;
        }
        memcpy(g->token, line, n + 1);
        return true;
}
