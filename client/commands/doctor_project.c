/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the files are read line by line, not by grammars: a stanza begins in
 * the first column and ends where the next one does, and an option is a word.
 * So whatever else a version of cabal, hpack or stack allows there is passed
 * over. What a common stanza has counts for those that import it. The release
 * of GHC decides what is needed; where the files do not tell it, the lines have
 * a condition.
 */
#include "client/commands/doctor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/command.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/json_out.h"
#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

#define FILE_MAX     (1u << 20) /* bytes; a longer one is left out */
#define FILES_MAX    64u
#define FINDINGS_MAX 256u
#define LINES_MAX    20000u

struct source {
        char *path; /* owned by the glob */
        char *text; /* owned; its lines end with NUL */
        char **lines;
        size_t n;
        bool whole; /* these lines are all of it */
        bool cut;   /* the last one has no newline */
};

struct finding {
        const char *path;
        size_t line;      /* from 1: after or at which; 0: there is no such file yet */
        char subject[96]; /* of the stanza; "" */
        const char *add;  /* lines, or what to remove */
        const char *why;
        bool needed, in_patch;
};

struct project {
        const char *directory;
        glob_t found;
        struct source files[FILES_MAX];
        size_t n_files;
        struct finding findings[FINDINGS_MAX];
        size_t n_findings;
        struct insertion insertions[FINDINGS_MAX]; /* by file, in the order of lines */
        const struct source *inserted_into[FINDINGS_MAX];
        size_t n_insertions;
        unsigned major, minor; /* of GHC; 0: not told */
        char ghc_from[300];
};

/* ------------------------------------------------------------------- files */

/* To free(), ended by a NUL; NULL: it is not a file that can be read. */
static char *read_text(const char *path, size_t *ret_size)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char *text = NULL;

        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX &&
            (text = calloc(1, (size_t)st.st_size + 1)) && read(fd, text, (size_t)st.st_size) != st.st_size) {
                free(text);
                text = NULL;
        }
        *ret_size = text ? (size_t)st.st_size : 0;
        close_fd(&fd);
        return text;
}

static bool is_comment(const char *line)
{
        line += strspn(line, " \t\r");
        return *line == '\0' || *line == '#' || !strncmp(line, "--", 2);
}

static void add_file(struct project *p, char *path)
{
        struct source *s = &p->files[p->n_files];
        size_t size;

        *s = (struct source){ .path = path, .text = read_text(path, &size) };
        s->lines = s->text ? calloc(LINES_MAX, sizeof(*s->lines)) : NULL;
        if (!s->lines) {
                free(s->text);
                return;
        }
        s->cut = size > 0 && s->text[size - 1] != '\n';
        s->whole = !memchr(s->text, '\0', size);
        for (char *at = s->text, *end; at && *at && s->n < LINES_MAX; at = end) {
                if ((end = strchr(at, '\n')))
                        *end++ = '\0';
                s->lines[s->n++] = at;
        }
        s->whole = s->whole && s->n < LINES_MAX;
        p->n_files++;
}

static const char *base_name(const char *path)
{
        return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static const struct source *find_file(const struct project *p, const char *name)
{
        for (size_t i = 0; i < p->n_files; i++)
                if (!strcmp(base_name(p->files[i].path), name))
                        return &p->files[i];
        return NULL;
}

/* ------------------------------------------------------------------- words */

static bool ends_word(char c)
{
        return c == '\0' || isspace((unsigned char)c) || strchr(",\"'[]:{}=", c);
}

/* Whether a line that is no comment has the word; "-with-rtsopts=-xn" has "-xn". */
static bool line_has(const char *line, const char *word)
{
        const size_t n = strlen(word);

        if (is_comment(line))
                return false;
        for (const char *at = line; (at = strstr(at, word)); at += n)
                if ((at == line || ends_word(at[-1])) && ends_word(at[n]))
                        return true;
        return false;
}

/* The first line from `from` to before `to` that has the word, counted from 1; 0: none. */
static size_t find_word(const struct source *s, size_t from, size_t to, const char *word)
{
        for (size_t i = from; i < to && i < s->n; i++)
                if (line_has(s->lines[i], word))
                        return i + 1;
        return 0;
}

/* Whether the line is `key: value`, in any case of the key; *ret_value is then the rest. */
static bool is_field(const char *line, const char *key, const char **ret_value)
{
        const size_t n = strlen(key);

        line += strspn(line, " \t");
        if (strncasecmp(line, key, n) != 0 || line[n + strspn(line + n, " \t")] != ':')
                return false;
        *ret_value = line + n + strspn(line + n, " \t:");
        return true;
}

/* ---------------------------------------------------------------- findings */

static void add_finding(struct project *p, const struct source *s, size_t line, const char *subject, bool needed,
                        const char *add, const char *why)
{
        struct finding *f = &p->findings[p->n_findings];

        if (p->n_findings == FINDINGS_MAX)
                return;
        p->n_findings++;
        *f = (struct finding){
                .path = s ? s->path : "cabal.project", .line = line, .add = add, .why = why, .needed = needed
        };
        (void)snprintf(f->subject, sizeof(f->subject), "%.95s", subject);
}

/* The newest finding, for the patch: its lines, or those of `text`, indented as `like` is. */
static void add_insertion(struct project *p, const struct source *s, size_t after, const char *like, size_t strip,
                          const char *text)
{
        struct finding *f = &p->findings[p->n_findings - 1];

        if (!s->whole || !patch_can_have(&(struct patched_file){ s->path, s->lines, s->n, s->cut }) ||
            p->n_insertions == FINDINGS_MAX)
                return;
        f->in_patch = true;
        p->inserted_into[p->n_insertions] = s;
        p->insertions[p->n_insertions++] = (struct insertion){ .after = after,
                                                               .indent = like,
                                                               .columns = strspn(like, " \t"),
                                                               .strip = strip,
                                                               .text = text ? text : f->add };
}

static bool ghc_before(const struct project *p, unsigned major, unsigned minor)
{
        return p->major < major || (p->major == major && p->minor < minor);
}

static void set_ghc(struct project *p, const struct source *s, size_t line, unsigned major, unsigned minor)
{
        if (p->major || !major)
                return;
        p->major = major;
        p->minor = minor;
        (void)snprintf(p->ghc_from, sizeof(p->ghc_from), "%.255s:%zu", s->path, line + 1);
}

/* From with-compiler: of cabal.project, resolver:, snapshot: or compiler: of stack.yaml. */
static void find_ghc(struct project *p, const struct source *s)
{
        static const struct {
                unsigned lts, major, minor;
        } resolvers[] = { { 17, 8, 10 }, { 18, 8, 10 }, { 19, 9, 0 }, { 20, 9, 2 },
                          { 21, 9, 4 },  { 22, 9, 6 },  { 23, 9, 8 }, { 24, 9, 10 } };
        static const char *const keys[] = { "with-compiler", "compiler", "resolver", "snapshot" };
        unsigned major, minor;
        const char *value;

        for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
                for (size_t i = 0; i < s->n; i++) {
                        if (!is_field(s->lines[i], keys[k], &value))
                                continue;
                        const char *ghc = strstr(value, "ghc-"), *lts = strstr(value, "lts-");
                        if (ghc && sscanf(ghc, "ghc-%3u.%3u", &major, &minor) == 2)
                                set_ghc(p, s, i, major, minor);
                        for (size_t l = 0; lts && l < ARRAY_SIZE(resolvers); l++)
                                if (strtoul(lts + 4, NULL, 10) == resolvers[l].lts)
                                        set_ghc(p, s, i, resolvers[l].major, resolvers[l].minor);
                }
}

/* ----------------------------------------------------------------- options */

/* What keeps a program from being watched, by words in the options of its stanza. */
static const struct {
        const char *word, *add, *why;
} hindrances[] = {
        { "-optl-s", "remove -optl-s", "a program without symbols is not watched from inside" },
        { "-optl-Wl,-s", "remove -optl-Wl,-s", "a program without symbols is not watched from inside" },
        { "-optl-static", "remove -optl-static, or link the agent (docs/AGENT.md)",
          "into a program that is linked statically no agent can be loaded" },
        { "--nonmoving-gc", "remove --nonmoving-gc where bands are wanted",
          "the runtime makes no heap profile with this collector" },
        { "-xn", "remove -xn where bands are wanted", "the runtime makes no heap profile with this collector" },
};

static const char eventlog_why[] =
        "before GHC 9.4 the runtime has an eventlog only with it; without it threads, messages "
        "and markers are not seen";

static void check_words(struct project *p, const struct source *s, size_t from, size_t to, const char *subject)
{
        for (size_t i = 0; i < ARRAY_SIZE(hindrances); i++) {
                const size_t line = find_word(s, from, to, hindrances[i].word);
                if (line)
                        add_finding(p, s, line, subject, true, hindrances[i].add, hindrances[i].why);
        }
}

/* ------------------------------------------------------------------- cabal */

static size_t stanza_end(const struct source *s, size_t from)
{
        size_t end = from + 1;

        while (end < s->n && (is_comment(s->lines[end]) || isspace((unsigned char)s->lines[end][0])))
                end++;
        return end;
}

/* The line of its stanza's last text, counted from 1. */
static size_t last_line(const struct source *s, size_t from, size_t to)
{
        while (to > from + 1 && is_comment(s->lines[to - 1]))
                to--;
        return to;
}

/* Whether the stanza, or a common one that it imports, has the word. */
static bool stanza_has(const struct source *s, size_t from, size_t to, const char *word)
{
        const char *imported, *name;

        if (find_word(s, from, to, word))
                return true;
        for (size_t i = from; i < to; i++) {
                if (!is_field(s->lines[i], "import", &imported))
                        continue;
                for (size_t c = 0; c < s->n; c++) {
                        if (strncasecmp(s->lines[c], "common ", 7) != 0)
                                continue;
                        name = s->lines[c] + 7 + strspn(s->lines[c] + 7, " \t");
                        char word_of_name[96];
                        (void)snprintf(word_of_name, sizeof(word_of_name), "%.*s", (int)strcspn(name, " \t\r"), name);
                        if (*word_of_name && line_has(imported, word_of_name) &&
                            find_word(s, c, stanza_end(s, c), word))
                                return true;
                }
        }
        return false;
}

/* Beside the fields that the stanza has. One in braces is left to people. */
static void insert_into_stanza(struct project *p, const struct source *s, size_t from, size_t to)
{
        size_t field = from + 1;

        while (field < to && is_comment(s->lines[field]))
                field++;
        if (!strchr(s->lines[from], '{'))
                add_insertion(p, s, last_line(s, from, to), field < to ? s->lines[field] : "  ", 2, NULL);
}

static void check_cabal(struct project *p, const struct source *s)
{
        const bool old = p->major && ghc_before(p, 9, 4);

        for (size_t i = 0; i < s->n; i++) {
                if (strncasecmp(s->lines[i], "executable ", 11) != 0 &&
                    strncasecmp(s->lines[i], "executable\t", 11) != 0 && strncasecmp(s->lines[i], "common ", 7) != 0)
                        continue;
                const size_t end = stanza_end(s, i);
                check_words(p, s, i, end, s->lines[i]);
                if (tolower((unsigned char)s->lines[i][0]) == 'c')
                        continue;
                if ((!p->major || old) && !stanza_has(s, i, end, "-eventlog")) {
                        add_finding(p, s, last_line(s, i, end), s->lines[i], true,
                                    old ? "  ghc-options: -eventlog"
                                        : "  if impl(ghc < 9.4)\n    ghc-options: -eventlog",
                                    eventlog_why);
                        insert_into_stanza(p, s, i, end);
                }
                if (!stanza_has(s, i, end, "-threaded"))
                        add_finding(p, s, last_line(s, i, end), s->lines[i], false, "  ghc-options: -threaded",
                                    "the log of a program without it leaves it only at collections and while it waits");
        }
}

static size_t count_indentation(const char *line)
{
        return strspn(line, " ");
}

/* The end of what is indented deeper than line `from` is. */
static size_t block_end(const struct source *s, size_t from)
{
        size_t end = from + 1;

        while (end < s->n &&
               (is_comment(s->lines[end]) || count_indentation(s->lines[end]) > count_indentation(s->lines[from])))
                end++;
        return end;
}

/* The first line of text in a block that line `from` begins; 0: there is none, or the line has a value itself. */
static size_t block_begin(const struct source *s, size_t from)
{
        const char *colon = strchr(s->lines[from], ':');
        size_t begin = from + 1;

        while (begin < s->n && is_comment(s->lines[begin]))
                begin++;
        return colon && is_comment(colon + 1) && begin < block_end(s, from) ? begin : 0;
}

/* One executable of package.yaml; false where it has a key of that name already, whose value only people can change. */
static bool insert_into_executable(struct project *p, const struct source *s, size_t from)
{
        const size_t begin = block_begin(s, from);
        const char *value;

        for (size_t i = begin; begin && i < block_end(s, from); i++)
                if (is_field(s->lines[i], "ghc-options", &value) || is_field(s->lines[i], "when", &value))
                        return false;
        if (begin)
                add_insertion(p, s, from + 1, s->lines[begin], 4, NULL);
        return begin > 0;
}

/* Each executable of `executables:`, or that of `executable:`. */
static void insert_into_executables(struct project *p, const struct source *s, size_t from)
{
        const size_t begin = block_begin(s, from), before = p->n_insertions;
        const char *value;
        bool all = begin > 0;

        if (is_field(s->lines[from], "executable", &value))
                all = insert_into_executable(p, s, from);
        else if (is_field(s->lines[from], "executables", &value))
                for (size_t i = begin; begin && i < block_end(s, from); i = block_end(s, i))
                        all &= insert_into_executable(p, s, i);
        else
                all = false;
        if (!all) {
                p->n_insertions = before;
                p->findings[p->n_findings - 1].in_patch = false;
        }
}

static void check_hpack(struct project *p, const struct source *s)
{
        const bool old = p->major && ghc_before(p, 9, 4);
        const size_t line = find_word(s, 0, s->n, "executables") ? find_word(s, 0, s->n, "executables")
                                                                 : find_word(s, 0, s->n, "executable");

        check_words(p, s, 0, s->n, "");
        if (line && (!p->major || old) && !find_word(s, 0, s->n, "-eventlog")) {
                add_finding(p, s, line, "each executable", true,
                            old ? "    ghc-options: -eventlog"
                                : "    when:\n      condition: impl(ghc < 9.4)\n      ghc-options: -eventlog",
                            eventlog_why);
                insert_into_executables(p, s, line - 1);
        }
        if (line && !find_word(s, 0, s->n, "-threaded"))
                add_finding(p, s, line, "each executable", false, "    ghc-options: -threaded",
                            "the log of a program without it leaves it only at collections and while it waits");
}

/* ------------------------------------------------------------ the project's */

static const char stripped_why[] =
        "what is installed keeps its symbols: without them nothing is seen from inside, and "
        "threads and pauses not at all";
static const char places_why[] =
        "for the line of the source that makes what grows (heapwatch run --heap-profile i), "
        "GHC 9.2 and later";

static bool keeps_symbols(const struct source *s)
{
        const char *value;

        for (size_t i = 0; s && i < s->n; i++)
                if (!is_comment(s->lines[i]) && is_field(s->lines[i], "executable-stripping", &value) &&
                    !strncasecmp(value, "false", 5))
                        return true;
        return false;
}

/* Of stack.yaml: into its `build:`, or as one. */
static void insert_stripping(struct project *p, const struct source *s)
{
        const char *lines = p->findings[p->n_findings - 1].add, *value;

        for (size_t i = 0; i < s->n; i++) {
                if (!is_comment(s->lines[i]) && is_field(s->lines[i], "executable-stripping", &value))
                        return;
                if (count_indentation(s->lines[i]) || !is_field(s->lines[i], "build", &value))
                        continue;
                const size_t begin = block_begin(s, i);
                if (begin)
                        add_insertion(p, s, i + 1, s->lines[begin], 2, strchr(lines, '\n') + 1);
                return;
        }
        add_insertion(p, s, s->n, "", 0, NULL);
}

static void check_building(struct project *p)
{
        const struct source *stack = find_file(p, "stack.yaml"), *cabal = find_file(p, "cabal.project");
        const struct source *built = stack ? stack : cabal;
        const bool places = !p->major || !ghc_before(p, 9, 2);

        if (!keeps_symbols(built))
                add_finding(p, built, built ? built->n : 0, "", stack,
                            stack   ? "build:\n  executable-stripping: false"
                            : cabal ? "package *\n  executable-stripping: False"
                                    : "packages: .\npackage *\n  executable-stripping: False",
                            stack ? stripped_why
                                  : "what `cabal install` makes keeps its symbols then; `cabal build` leaves them");
        if (stack && !keeps_symbols(stack))
                insert_stripping(p, stack);
        if (places && !(built && find_word(built, 0, built->n, "-finfo-table-map")))
                add_finding(p, built, built ? built->n : 0, "", false,
                            stack ? "ghc-options:\n  \"$everything\": -finfo-table-map -fdistinct-constructor-tables"
                                  : "package *\n  ghc-options: -finfo-table-map -fdistinct-constructor-tables",
                            places_why);
}

static bool has_needed(const struct project *p)
{
        for (size_t i = 0; i < p->n_findings; i++)
                if (p->findings[i].needed)
                        return true;
        return false;
}

/* ---------------------------------------------------------------- printing */

static void print_finding(const struct finding *f)
{
        printf("%s", SAFE_TEXT(4200, f->path));
        if (f->line)
                printf(":%zu", f->line);
        else
                printf(", a new file");
        printf("%s%s%s\n", f->subject[0] ? ": " : "", SAFE_TEXT(400, f->subject), f->needed ? "" : " (optional)");
        const char *text = f->add;
        for (size_t n; *text; text += n + (text[n] == '\n')) {
                n = strcspn(text, "\n");
                printf("    %.*s\n", (int)n, text);
        }
        printf("  %s\n", f->why);
}

static void print_text(const struct project *p)
{
        if (p->major)
                printf("GHC %u.%u, by %s\n", p->major, p->minor, SAFE_TEXT(1300, p->ghc_from));
        else
                puts("Which GHC builds it is not in these files: conditions are for all.");
        for (size_t i = 0; i < p->n_findings; i++)
                print_finding(&p->findings[i]);
        if (!has_needed(p))
                puts("Nothing is missing: heapwatch run watches what this builds as it is.");
}

static void print_json(const struct project *p)
{
        struct json_out j = { .to = stdout };
        char version[32];

        (void)snprintf(version, sizeof(version), "%u.%u", p->major, p->minor);
        json_open(&j, '{');
        json_member_text(&j, "project", p->directory);
        json_member_text(&j, "ghcVersion", p->major ? version : NULL);
        json_member_bool(&j, "complete", !has_needed(p));
        json_member_open(&j, "findings", '[');
        for (size_t i = 0; i < p->n_findings; i++) {
                const struct finding *f = &p->findings[i];
                json_open(&j, '{');
                json_member_text(&j, "file", f->path);
                json_member_u64(&j, "line", f->line);
                json_member_text(&j, "stanza", f->subject);
                json_member_bool(&j, "needed", f->needed);
                json_member_text(&j, "add", f->add);
                json_member_text(&j, "why", f->why);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        putchar('\n');
}

/* What is needed, as a patch; what only people can change, on standard error. True: nothing of that. */
static bool print_patch(const struct project *p)
{
        bool all = true;

        for (size_t i = 0, n; i < p->n_insertions; i += n) {
                const struct source *s = p->inserted_into[i];
                const struct patched_file file = { s->path, s->lines, s->n, s->cut };
                for (n = 1; i + n < p->n_insertions && p->inserted_into[i + n] == s; n++)
                        ;
                patch_print(&file, &p->insertions[i], n);
        }
        for (size_t i = 0; i < p->n_findings; i++) {
                const struct finding *f = &p->findings[i];
                if (!f->needed || f->in_patch)
                        continue;
                command_error(&command_doctor, "not in the patch: %s:%zu: %.*s: %s", SAFE_TEXT(4200, f->path), f->line,
                              (int)strcspn(f->add, "\n"), f->add + strspn(f->add, " "), f->why);
                all = false;
        }
        return all;
}

static bool has_package(const struct project *p)
{
        for (size_t i = 0; i < p->n_files; i++)
                if (text_has_suffix(p->files[i].path, ".cabal") || !strcmp(base_name(p->files[i].path), "package.yaml"))
                        return true;
        return false;
}

/* Whether hpack wrote it: then its package.yaml is the place for options. */
static bool is_generated(const struct source *s)
{
        for (size_t i = 0; i < s->n && i < 10; i++)
                if (strstr(s->lines[i], "generated from package.yaml"))
                        return true;
        return false;
}

static void check_files(struct project *p)
{
        for (size_t i = 0; i < p->n_files; i++)
                find_ghc(p, &p->files[i]);
        for (size_t i = 0; i < p->n_files; i++) {
                const struct source *s = &p->files[i];
                if (!strcmp(base_name(s->path), "package.yaml"))
                        check_hpack(p, s);
                else if (text_has_suffix(s->path, ".cabal") && !is_generated(s))
                        check_cabal(p, s);
        }
        check_building(p);
}

int doctor_project(const char *directory, bool json, bool patch)
{
        struct project *p = calloc(1, sizeof(*p));
        int status = EXIT_USAGE;

        if (!p || chdir(directory) < 0) {
                command_error(&command_doctor, "cannot read %s: %s", directory, strerror(errno));
                free(p);
                return EXIT_USAGE;
        }
        p->directory = directory;
        /* The project's own files, and those of packages one folder below; the project is the working directory. */
        static const char *const patterns[] = { "stack.yaml", "cabal.project",  "package.yaml",
                                                "*.cabal",    "*/package.yaml", "*/*.cabal" };

        for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
                (void)glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &p->found);
        for (size_t i = 0; i < p->found.gl_pathc && p->n_files < FILES_MAX; i++)
                add_file(p, p->found.gl_pathv[i]);
        if (has_package(p)) {
                check_files(p);
                status = patch ? !print_patch(p) : has_needed(p);
                if (!patch)
                        (json ? print_json : print_text)(p);
                status = status ? EXIT_FINDING : EXIT_OK;
        } else {
                command_error(
                        &command_doctor,
                        "%s is not a Haskell project: there is neither a .cabal file nor a package.yaml that can be "
                        "read, nor in a folder of it",
                        directory);
        }
        for (size_t i = 0; i < p->n_files; i++) {
                free(p->files[i].lines);
                free(p->files[i].text);
        }
        globfree(&p->found);
        free(p);
        return status;
}
