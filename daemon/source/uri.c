/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a table of schemes; what follows the scheme is a path, an address or
 * nothing. A text that has a colon before any slash, but no known scheme, is
 * refused rather than taken for a path: `tpc:127.0.0.1:9` is a typo, and a
 * daemon that waits for a file of that name would never say so.
 *
 * Control characters are refused, so that a URI can be in any message.
 */
#include "daemon/source/procfs.h"
#include "daemon/source/uri.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/error.h"
#include "proto/eventlog/recording/stretch.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define SCHEMES "file:, fifo:, stdin:, unix:, tcp:, unix-listen:, tcp-listen:, pid: or outside:"

enum rest { REST_PATH, REST_SOCKET_PATH, REST_ADDRESS, REST_PROCESS, REST_NOTHING };

static const struct scheme {
        const char *name; /* with its colon */
        enum source_kind kind;
        enum rest rest;
} schemes[] = {
        { "file:", SOURCE_FILE, REST_PATH },
        { "fifo:", SOURCE_FIFO, REST_PATH },
        { "stdin:", SOURCE_STDIN, REST_NOTHING },
        { "unix:", SOURCE_UNIX, REST_SOCKET_PATH },
        { "tcp:", SOURCE_TCP, REST_ADDRESS },
        { "unix-listen:", SOURCE_UNIX_LISTEN, REST_SOCKET_PATH },
        { "tcp-listen:", SOURCE_TCP_LISTEN, REST_ADDRESS },
        { "pid:", SOURCE_PROCESS, REST_PROCESS },
        { "outside:", SOURCE_OUTSIDE, REST_PROCESS },
};

static bool has_control(const char *text)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;
                if (c < 0x20 || c == 0x7f)
                        return true;
        }
        return false;
}

static bool check_path(const char *path, enum rest rest, struct error *error)
{
        size_t size = strlen(path), max = SOURCE_PATH_MAX;

        if (rest == REST_SOCKET_PATH)
                max = sizeof((struct sockaddr_un *)0)->sun_path;
        if (!size)
                return error_set(error, "the path is empty");
        if (size >= max)
                return error_set(error, "the path is %zu bytes long; at most %zu are allowed", size, max - 1);
        if (path[size - 1] == '/')
                return error_set(error, "'%s' names a directory; name the file in it", path);
        return true;
}

static bool parse_port(const char *text, uint16_t *ret_port)
{
        uint64_t port;

        if (strlen(text) > 5 || !digits_parse(text, UINT16_MAX, &port) || port == 0)
                return false;
        *ret_port = (uint16_t)port;
        return true;
}

static bool is_host(const char *host)
{
        struct in6_addr any;

        return !strcmp(host, "localhost") || inet_pton(AF_INET, host, &any) == 1 ||
               inet_pton(AF_INET6, host, &any) == 1;
}

/* HOST:PORT, an IPv6 HOST in brackets. */
static bool parse_address(const char *text, struct source_uri *u, struct error *error)
{
        const char *host = text, *end = strrchr(text, ':'), *port = end ? end + 1 : NULL;

        if (!port)
                return error_set(error, "'%s' has no port; expected HOST:PORT", text);
        bool bracketed = *host == '[';
        if (bracketed) {
                if (end == host || end[-1] != ']')
                        return error_set(error, "'%s' is not [ADDRESS]:PORT", text);
                host++;
                end--;
        }
        size_t size = end > host ? (size_t)(end - host) : 0;
        if (!size || size >= sizeof(u->host))
                return error_set(error, "'%s' has no usable host; expected HOST:PORT", text);
        memcpy(u->host, host, size);
        u->host[size] = '\0';
        if (!is_host(u->host))
                return error_set(error, "'%s' is not a numeric address or localhost (names are not looked up)",
                                 u->host);
        if (bracketed != (strchr(u->host, ':') != NULL))
                return error_set(error, "'%s': expected an IPv6 address in brackets, as in [::1]:4242", text);
        if (!parse_port(port, &u->port))
                return error_set(error, "'%s' is not a port; expected 1 to 65535", port);
        return true;
}

bool source_uri_is_loopback(const struct source_uri *u)
{
        struct in_addr v4;
        struct in6_addr v6;

        if (!strcmp(u->host, "localhost"))
                return true;
        if (inet_pton(AF_INET, u->host, &v4) == 1)
                return ntohl(v4.s_addr) >> 24 == 127;
        return inet_pton(AF_INET6, u->host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* PID or PID@START. */
static bool parse_process(const char *text, struct source_uri *u, struct error *error)
{
        const char *at = text;
        uint64_t pid, ticks = 0;

        if (!digits_read(&at, &pid) || (*at && *at != '@') || pid == 0 || pid > INT32_MAX)
                return error_set(
                        error,
                        "'%.40s' is not the number of a process; expected pid:PID, such as pid:1234 or outside:1234",
                        text);
        if (*at && (!digits_parse(at + 1, UINT64_MAX, &ticks) || ticks == 0))
                return error_set(error,
                                 "'%.40s' is not the start of a process; expected pid:PID@START, with field 22 of "
                                 "/proc/PID/stat",
                                 at + 1);
        u->pid = (uint32_t)pid;
        u->start_ticks = ticks;
        return true;
}

static bool parse_rest(const struct scheme *scheme, const char *rest, struct source_uri *u, struct error *error)
{
        switch (scheme->rest) {
        case REST_PATH:
        case REST_SOCKET_PATH:
                return check_path(rest, scheme->rest, error);
        case REST_ADDRESS:
                if (!parse_address(rest, u, error))
                        return false;
                if (u->kind == SOURCE_TCP_LISTEN && !source_uri_is_loopback(u))
                        return error_set(error,
                                         "tcp-listen: takes only loopback addresses, because writers cannot be "
                                         "authenticated; use 127.0.0.1 or [::1] and a tunnel");
                return true;
        case REST_PROCESS:
                return parse_process(rest, u, error);
        default:
                return !*rest || error_set(error, "stdin: takes nothing after the colon");
        }
}

void source_uri_set_start(struct source_uri *u, uint64_t start_ticks)
{
        const char *scheme = u->kind == SOURCE_OUTSIDE ? "outside:" : "pid:";

        u->start_ticks = start_ticks;
        if (start_ticks)
                (void)snprintf(u->text, sizeof(u->text), "%s%" PRIu32 "@%" PRIu64, scheme, u->pid, start_ticks);
        else
                (void)snprintf(u->text, sizeof(u->text), "%s%" PRIu32, scheme, u->pid);
}

static const struct scheme *find_scheme(const char *text)
{
        for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
                if (!strncmp(text, schemes[i].name, strlen(schemes[i].name)))
                        return &schemes[i];
        }
        return NULL;
}

bool source_uri_parse(const char *text, struct source_uri *ret_uri, struct error *error)
{
        struct source_uri u = { 0 };
        const struct scheme *scheme = find_scheme(text);
        const char *rest = text;
        size_t before = strcspn(text, ":/");

        if (strlen(text) >= sizeof(u.text))
                return error_set(error, "longer than %zu bytes", sizeof(u.text) - 1);
        if (has_control(text))
                return error_set(error, "contains a control character");
        if (!*text)
                return error_set(error, "empty; expected a path or one of " SCHEMES);
        if (!scheme && text[before] == ':')
                return error_set(error,
                                 "unknown scheme '%.*s:'; expected " SCHEMES " (a file of that name is file:%.200s)",
                                 (int)(before < 32 ? before : 32), text, text);
        if (scheme)
                rest += strlen(scheme->name);
        else
                scheme = &schemes[0];
        u.kind = scheme->kind;
        if (!parse_rest(scheme, rest, &u, error))
                return false;
        int n;

        switch (scheme->rest) {
        case REST_ADDRESS:
                n = snprintf(u.text, sizeof(u.text), strchr(u.host, ':') ? "%s[%s]:%u" : "%s%s:%u", scheme->name,
                             u.host, u.port);
                break;
        case REST_NOTHING:
                n = snprintf(u.text, sizeof(u.text), "%s", scheme->name);
                break;
        case REST_PROCESS:
                source_uri_set_start(&u, u.start_ticks);
                n = 0;
                break;
        default:
                n = snprintf(u.text, sizeof(u.text), "%s%s", scheme->name, rest);
                u.path_at = (uint16_t)strlen(scheme->name);
                break;
        }
        (void)n; /* fits: text has room for the longest path and scheme */
        *ret_uri = u;
        return true;
}

/* ------------------------------------------------------------- target names */

static bool name_char(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
}

bool target_name_valid(const char *name)
{
        size_t size = strlen(name);

        if (size < 1 || size > TARGET_NAME_MAX || *name == '.' || *name == '-')
                return false;
        for (; *name; name++) {
                if (!name_char(*name))
                        return false;
        }
        return true;
}

/* A name from any text: cut to fit, invalid characters replaced. */
static void name_from(const char *text, size_t size, char name[TARGET_NAME_MAX + 1])
{
        if (size > TARGET_NAME_MAX)
                size = TARGET_NAME_MAX;
        for (size_t i = 0; i < size; i++)
                name[i] = name_char(text[i]) ? text[i] : '-';
        if (!size)
                name[size++] = '_';
        if (*name == '.' || *name == '-')
                *name = '_';
        name[size] = '\0';
}

static void name_from_path(const char *path, char name[TARGET_NAME_MAX + 1])
{
        static const char *const endings[] = { ".gz", ".zst", ".eventlog" }; /* in the order of removal */
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        size_t size = strlen(base);

        for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
                size_t tail = strlen(endings[i]);
                if (size > tail && !strncmp(base + size - tail, endings[i], tail))
                        size -= tail;
        }
        if (stretch_is(path))
                size = strcspn(base, "@?");
        name_from(base, size, name);
}

void target_name_from_folder(const char *path, char name[TARGET_NAME_MAX + 1])
{
        const char *end = strrchr(path, '/'), *from = end;

        while (end && end > path && end[-1] == '/')
                end--;
        for (from = end; from && from > path && from[-1] != '/';)
                from--;
        if (from && from < end && *from != '.')
                name_from(from, (size_t)(end - from), name);
}

bool target_spec_parse(const char *text, char ret_name[TARGET_NAME_MAX + 1], struct source_uri *ret_uri,
                       struct error *error)
{
        char name[TARGET_NAME_MAX + 1] = "";
        size_t before = strcspn(text, "=:/");
        bool named = text[before] == '=';

        if (named) {
                if (before <= TARGET_NAME_MAX)
                        memcpy(name, text, before);
                if (!target_name_valid(name))
                        return error_set(error,
                                         "the name before '=' must be 1 to %d of A-Z a-z 0-9 . _ - and "
                                         "not begin with '.' or '-'",
                                         TARGET_NAME_MAX);
                text += before + 1;
        }
        if (!source_uri_parse(text, ret_uri, error))
                return false;
        if (!named) {
                char address[sizeof(ret_uri->host) + 8];

                switch (ret_uri->kind) {
                case SOURCE_STDIN:
                        name_from("stdin", 5, name);
                        break;
                case SOURCE_TCP:
                case SOURCE_TCP_LISTEN:
                        name_from(address,
                                  (size_t)snprintf(address, sizeof(address), "%s-%u", ret_uri->host, ret_uri->port),
                                  name);
                        break;
                case SOURCE_PROCESS:
                case SOURCE_OUTSIDE:
                        name_from(address, (size_t)snprintf(address, sizeof(address), "pid-%" PRIu32, ret_uri->pid),
                                  name);
                        break;
                default:
                        name_from_path(source_uri_path(ret_uri), name);
                        break;
                }
        }
        memcpy(ret_name, name, sizeof(name));
        return true;
}
