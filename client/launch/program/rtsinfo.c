/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the output looks like a Haskell list of pairs of strings, one pair
 * a line:
 *
 *      [("GHC RTS", "YES")
 *      ,("GHC version", "9.0.2")
 *      ...
 *      ]
 *
 * but the RTS prints the strings as they are, without escaping quotes and
 * backslashes (`-with-rtsopts` may have both). So it is read line by line, and
 * the value ends at the last `")` of its line; a parser of Haskell strings would
 * go wrong.
 */
#include "client/launch/program/inquire.h"

#include <string.h>

struct text {
        const char *at;
        size_t size;
};

static bool text_is(struct text t, const char *literal)
{
        return t.size == strlen(literal) && !memcmp(t.at, literal, t.size);
}

/* Copies the text if it fits; a truncated version or way would be a wrong one. */
static bool copy_text(char *out, size_t size, struct text t)
{
        if (t.size >= size || memchr(t.at, '\0', t.size) != NULL)
                return false;
        memcpy(out, t.at, t.size);
        out[t.size] = '\0';
        return true;
}

/* Takes the next line, without its end. False at the end of the text. */
static bool next_line(struct text *rest, struct text *ret_line)
{
        if (rest->size == 0)
                return false;
        const char *end = memchr(rest->at, '\n', rest->size);
        size_t n = end != NULL ? (size_t)(end - rest->at) : rest->size;
        *ret_line = (struct text){ rest->at, n };
        size_t taken = end != NULL ? n + 1 : n;
        rest->at += taken;
        rest->size -= taken;
        return true;
}

/* One line ` ,("KEY", "VALUE")`. */
static bool parse_pair(struct text line, struct text *ret_key, struct text *ret_value)
{
        static const char open[] = "(\"", middle[] = "\", \"", close[] = "\")";

        while (line.size > 0 && (*line.at == ' ' || *line.at == '[' || *line.at == ',')) {
                line.at++;
                line.size--;
        }
        if (line.size < 8 || memcmp(line.at, open, 2) != 0 || memcmp(line.at + line.size - 2, close, 2) != 0)
                return false;
        line.at += 2;
        line.size -= 4;
        const char *gap = memmem(line.at, line.size, middle, 4);
        if (gap == NULL)
                return false;
        *ret_key = (struct text){ line.at, (size_t)(gap - line.at) };
        *ret_value = (struct text){ gap + 4, line.size - ret_key->size - 4 };
        return true;
}

static bool parse_part(const char **at, unsigned *ret)
{
        const char *p = *at;
        unsigned v = 0;

        if (*p < '0' || *p > '9')
                return false;
        for (; *p >= '0' && *p <= '9'; p++) {
                if (v > 100000)
                        return false;
                v = v * 10 + (unsigned)(*p - '0');
        }
        *at = p;
        *ret = v;
        return true;
}

/* Whether `part` is one of the pieces of a way such as "rts_thr_p_dyn". */
static bool way_has(const char *way, const char *part)
{
        size_t n = strlen(part);

        for (const char *p = strchr(way, '_'); p != NULL; p = strchr(p + 1, '_'))
                if (!strncmp(p + 1, part, n) && (p[1 + n] == '_' || p[1 + n] == '\0'))
                        return true;
        return false;
}

bool rtsinfo_at_least(const struct rtsinfo *info, unsigned major, unsigned minor)
{
        return info->major != major ? info->major > major : info->minor >= minor;
}

/* "GHC RTS": in two parts, since programs with a runtime are recognised by that text, and this one has none. */
static bool is_runtime(struct text key)
{
        static const char first[] = "GHC ";
        const size_t n = sizeof(first) - 1;

        return key.size > n && !memcmp(key.at, first, n) && text_is((struct text){ key.at + n, key.size - n }, "RTS");
}

bool rtsinfo_parse(const char *text, size_t size, struct rtsinfo *ret)
{
        struct text rest = { text, size }, line, key, value;
        struct rtsinfo info = { 0 };
        bool rts = false;

        while (next_line(&rest, &line)) {
                bool fits = true;
                if (!parse_pair(line, &key, &value))
                        continue;
                if (is_runtime(key))
                        rts = text_is(value, "YES");
                else if (text_is(key, "GHC version"))
                        fits = copy_text(info.version, sizeof(info.version), value);
                else if (text_is(key, "RTS way"))
                        fits = copy_text(info.way, sizeof(info.way), value);
                else if (text_is(key, "Flag -with-rtsopts"))
                        fits = copy_text(info.with_rtsopts, sizeof(info.with_rtsopts), value);
                if (!fits)
                        return false;
        }
        const char *version = info.version; /* "9.0.2" gives 9 and 0; what follows is free (9.11.20240805) */
        if (!rts || info.way[0] == '\0' || !parse_part(&version, &info.major) || *version++ != '.' ||
            !parse_part(&version, &info.minor))
                return false;
        info.threaded = way_has(info.way, "thr");
        info.profiled = way_has(info.way, "p");
        info.debug = way_has(info.way, "debug");
        info.eventlog = way_has(info.way, "l") || info.profiled || info.debug || rtsinfo_at_least(&info, 9, 4);
        *ret = info;
        return true;
}
