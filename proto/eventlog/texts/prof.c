/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * prof.c - the profile of `+RTS -pj`, one JSON object:
 *
 *     { "program": "p", "arguments": ["p", "x"], "rts_arguments": ["-pj"], "initial_capabilities": 1,
 *       "total_ticks": 2011, "tick_interval": 1000, "total_alloc": 1443371128, ...
 *       "cost_centres": [ {"id": 190, "label": "f", "module": "Main", "src_loc": "p.hs:1:1-9", "is_caf": false}, ... ],
 *       "profile": {"id": 184, "entries": 0, "alloc": 704, "ticks": 3, "children": [ {"id": ...}, ... ]} }
 *
 * Each tick becomes a sample of the time profile with the stack of its node. When it was taken is not in the profile:
 * samples follow each other in the order of the nodes, in a tick interval one of each capability, busy or idle. Entries
 * and allocated bytes, summed over the nodes of a cost centre, become a ticky counter of its name; how many bytes were
 * allocated of it is not known. The length of the run is that of its ticks: GHC 9.0 has any "total_time" of five
 * capabilities and more.
 *
 * DESIGN: an automaton over bytes, since all cost centres are on one line. It keeps the path to the current node and
 * the sums of each cost centre. What one byte makes may be more than a block: then `waiting` is set, and text is taken
 * again when all of it is fetched.
 *
 * GHC 9.0 does not escape quotation marks in arguments, so where one ends cannot be told. What contradicts JSON there
 * is passed over, up to the key behind them.
 */
#include "proto/eventlog/texts/internal.h"

#include <stdlib.h>
#include <string.h>

#include "heapwatch/eventlog.h"
#include "proto/base/array.h"
#include "proto/base/digits.h"
#include "proto/base/hash.h"
#include "proto/base/idtable.h"
#include "proto/base/time.h"
#include "proto/eventlog/limits.h"

#define CENTRES            65536u    /* further ones are numbers alone, and have no counters */
#define DEEP               1024u     /* of nodes in each other; further ones are passed over */
#define STACK              255u      /* as the runtime cuts it */
#define TICKS              20000000u /* in all: 5.5 hours of 1 ms */
#define COUNTER_MAX        300u      /* of a counter; longer ones are cut */
#define KEY_MAX            32u
#define WORDS_MAX          60000u
#define MOST_TICK_US       10000000u
#define WHAT_EXPECTED      "a profile as +RTS -pj writes it"
#define ARGUMENTS_EXPECTED "arguments as JSON: they are left out, quotation marks in them are not escaped"

static const char after_arguments[] = "\"end_time\":";

enum where { START, TOP, WORDS, CENTRES_LIST, CENTRE, NODE, CHILDREN, OVER };
enum token { BETWEEN, STRING, ESCAPE, HEX, WORD };

struct centre {
        uint32_t id;
        uint64_t entries, allocated;
        char *name;
};

struct prof {
        enum where where;
        enum token token;
        uint32_t skipped; /* brackets that are open in what is passed over */
        bool value;       /* behind a colon */
        char key[KEY_MAX];
        char text[TEXT_LABEL_MAX + 1]; /* of the current token */
        size_t n_text;
        uint32_t hex, n_hex;
        bool broken;

        char words[WORDS_MAX]; /* the program and its arguments, each with its NUL */
        size_t n_words;
        bool after_word;                                        /* a comma or the end of the list follows */
        bool ambiguous;                                         /* arguments are not JSON, so they are not known */
        bool astray;                                            /* until after_arguments nothing is understood */
        bool past_arguments;                                    /* that has come */
        size_t n_after_bytes;                                   /* of after_arguments that have just come */
        uint64_t tick_ns, total_ticks, capabilities, allocated; /* capabilities: 0 without -threaded */
        char label[TEXT_LABEL_MAX + 1], module[TEXT_LABEL_MAX + 1], source[TEXT_LABEL_MAX + 1]; /* of CENTRE */
        uint64_t id;
        bool caf;

        uint32_t path[DEEP]; /* ids of the nodes that are open */
        uint32_t depth;
        uint64_t entries, bytes, ticks; /* of the innermost */
        bool counted;                   /* it was taken already */

        struct centre *centres;
        uint32_t n_centres;
        struct idtable by_id; /* index + 1 */
        uint64_t seed;

        uint32_t stack;                   /* how much of `path` is the stack of ticks_left */
        uint64_t ticks_left, ticks_taken; /* of that stack; all */
        uint32_t next_counter;
        bool counters_due;
};

static void prof_header(struct text_log *t)
{
        text_type(t, HW_PROGRAM_ARGS, WRITER_VARIABLE);
        text_type(t, HW_HEAP_ALLOCATED, 12);
        text_type(t, HW_HEAP_PROF_COST_CENTRE, WRITER_VARIABLE);
        text_type(t, HW_CAP_CREATE, 2);
        text_type(t, HW_PROF_BEGIN, 8);
        text_type(t, HW_PROF_SAMPLE_COST_CENTRE, WRITER_VARIABLE);
        text_type(t, HW_TICKY_COUNTER_DEF, WRITER_VARIABLE);
        text_type(t, HW_TICKY_COUNTER_SAMPLE, 32);
        t->prof = calloc(1, sizeof(*t->prof));
        if (t->prof)
                t->prof->seed = hash_seed(t->prof);
}

void prof_done(struct prof **p)
{
        if (!*p)
                return;
        for (uint32_t i = 0; i < (*p)->n_centres; i++)
                free((*p)->centres[i].name);
        free((*p)->centres);
        idtable_done(&(*p)->by_id);
        free(*p);
        *p = NULL;
}

/* ------------------------------------------------------------- cost centres */

static struct centre *centre_of(const struct prof *p, uint64_t id)
{
        uint64_t hash = hash_u64(id, p->seed);
        uint32_t at = idtable_start(&p->by_id, hash), i;

        while ((i = idtable_next(&p->by_id, hash, &at)) && p->centres[i - 1].id != id)
                ;
        return i ? &p->centres[i - 1] : NULL;
}

static void put_centre(struct text_log *t)
{
        struct eventlog_writer *w = &t->writer;
        struct prof *p = t->prof;

        text_event(t, HW_HEAP_PROF_COST_CENTRE, 0);
        size_t length = writer_length_begin(w);
        writer_number(w, p->id, 4);
        writer_string(w, p->label);
        writer_string(w, p->module);
        writer_string(w, p->source);
        writer_number(w, p->caf, 1);
        writer_length_end(w, length, 0);
        size_t module = strnlen(p->module, COUNTER_MAX), label = strnlen(p->label, COUNTER_MAX);
        uint32_t n = p->n_centres;

        if (n == CENTRES || centre_of(p, p->id))
                return;
        if (!ARRAY_RESERVE_NEXT(p->centres, n))
                return;
        char *name = malloc(module + label + 2);
        if (!name || idtable_add(&p->by_id, hash_u64(p->id, p->seed), n + 1)) {
                free(name);
                return;
        }
        memcpy(name, p->module, module);
        name[module] = '.';
        memcpy(name + module + 1, p->label, label);
        name[module + 1 + label] = '\0';
        p->centres[p->n_centres++] = (struct centre){ .id = (uint32_t)p->id, .name = name };
}

/* When so many ticks had been taken. */
static uint64_t time_of_ticks(const struct prof *p, uint64_t ticks)
{
        const double ns = (double)ticks * (double)p->tick_ns / (double)(p->capabilities ? p->capabilities : 1);

        return ns < TEXT_SECONDS_MAX * 1e9 ? (uint64_t)ns : TEXT_SECONDS_MAX * NS_PER_S;
}

static void put_tick(struct text_log *t)
{
        struct eventlog_writer *w = &t->writer;
        struct prof *p = t->prof;
        uint32_t n = p->stack < STACK ? p->stack : STACK;

        text_event(t, HW_PROF_SAMPLE_COST_CENTRE, time_of_ticks(p, ++p->ticks_taken));
        size_t length = writer_length_begin(w);
        writer_number(w, 0, 4);
        writer_number(w, p->ticks_taken, 8);
        writer_number(w, n, 1);
        for (uint32_t i = 0; i < n; i++) /* innermost first */
                writer_number(w, p->path[p->stack - 1 - i], 4);
        writer_length_end(w, length, 0);
        p->ticks_left--;
}

static void put_counter(struct text_log *t, const struct centre *c)
{
        struct eventlog_writer *w = &t->writer;

        if (!c->entries && !c->allocated)
                return;
        text_event(t, HW_TICKY_COUNTER_DEF, 0);
        size_t length = writer_length_begin(w);
        writer_number(w, c->id, 8);
        writer_number(w, 0, 2);
        writer_string(w, "");
        writer_string(w, c->name);
        writer_number(w, 0, 8);
        writer_string(w, "");
        writer_length_end(w, length, 0);
        text_event(t, HW_TICKY_COUNTER_SAMPLE, 0);
        writer_number(w, c->id, 8);
        writer_number(w, c->entries, 8);
        writer_number(w, c->allocated, 8);
        writer_number(w, UINT64_MAX, 8); /* not known */
}

static bool prof_more(struct text_log *t)
{
        struct prof *p = t->prof;

        if (p->ticks_left)
                put_tick(t);
        else if (p->counters_due && p->next_counter < p->n_centres)
                put_counter(t, &p->centres[p->next_counter++]);
        return p->ticks_left || (p->counters_due && p->next_counter < p->n_centres);
}

/* -------------------------------------------------------------------- nodes */

static void node_begin(struct prof *p, uint32_t depth)
{
        p->depth = depth;
        p->path[depth - 1] = 0;
        p->entries = p->bytes = p->ticks = 0;
        p->counted = false;
}

/* What is known of a node before its children. */
static const char *add_node(struct text_log *t)
{
        struct prof *p = t->prof;
        struct centre *c = centre_of(p, p->path[p->depth - 1]);
        uint64_t room = TICKS - p->ticks_taken;

        if (p->counted)
                return NULL;
        p->counted = true;
        if (c) {
                c->entries += p->entries;
                c->allocated += p->bytes;
        }
        p->stack = p->depth;
        p->ticks_left = p->ticks < room ? p->ticks : room;
        t->waiting = p->ticks_left > 0;
        return p->ticks > room ? "at most 20,000,000 ticks" : NULL;
}

/* ------------------------------------------------------------------- values */

static void copy_text(char out[TEXT_LABEL_MAX + 1], const struct prof *p)
{
        memcpy(out, p->text, p->n_text + 1);
}

static void add_word(struct prof *p, const char *word, size_t n)
{
        if (p->n_words + n + 1 > sizeof(p->words))
                return;
        memcpy(p->words + p->n_words, word, n + 1);
        p->n_words += n + 1;
}

static bool is_key(const struct prof *p, const char *key)
{
        return !strcmp(p->key, key);
}

/* Where a whole number of this key goes; NULL: it is not needed. */
static uint64_t *number_of(struct prof *p, uint64_t *unused)
{
        if (p->where == TOP)
                return is_key(p, "tick_interval")          ? &p->tick_ns
                       : is_key(p, "total_ticks")          ? &p->total_ticks
                       : is_key(p, "initial_capabilities") ? &p->capabilities
                       : is_key(p, "total_alloc")          ? &p->allocated
                                                           : NULL;
        if (p->where == CENTRE)
                return is_key(p, "id") ? &p->id : NULL;
        if (p->where != NODE)
                return NULL;
        return is_key(p, "id")        ? unused
               : is_key(p, "entries") ? &p->entries
               : is_key(p, "alloc")   ? &p->bytes
               : is_key(p, "ticks")   ? &p->ticks
                                      : NULL;
}

static const char *parse_number(struct prof *p)
{
        const char *text = p->text;
        uint64_t id = 0, n, *to = number_of(p, &id);

        if (p->where == CENTRE && is_key(p, "is_caf"))
                p->caf = !strcmp(p->text, "true");
        if (!to)
                return NULL;
        if (!digits_parse(text, UINT64_MAX, &n))
                return "a whole number";
        if ((to == &id || to == &p->id) && n > UINT32_MAX)
                return "the number of a cost centre";
        if (to == &p->tick_ns && n > MOST_TICK_US)
                return "microseconds, at most ten seconds, after tick_interval";
        *to = to == &p->tick_ns ? n * NS_PER_US : n;
        if (to == &id)
                p->path[p->depth - 1] = (uint32_t)n;
        return NULL;
}

/* ----------------------------------------------------------------- brackets */

static void begin_profile(struct text_log *t)
{
        struct prof *p = t->prof;

        if (p->n_words)
                text_arguments(t, p->words, p->ambiguous ? strlen(p->words) + 1 : p->n_words);
        p->n_words = 0;
        for (uint64_t i = 0; i < p->capabilities && i < LIMIT_CAPS; i++) {
                text_event(t, HW_CAP_CREATE, 0);
                writer_number(&t->writer, i, 2);
        }
        if (p->tick_ns) {
                text_event(t, HW_PROF_BEGIN, 0);
                writer_number(&t->writer, p->tick_ns, 8);
        }
}

/* Not JSON: of arguments, or the rest cannot be read. */
static const char *contradict_json(struct prof *p)
{
        if (p->n_words && !p->past_arguments && (p->where == TOP || p->where == WORDS)) {
                p->astray = p->ambiguous = true;
                return NULL;
        }
        p->broken = true;
        return WHAT_EXPECTED;
}

static const char *open_object(struct text_log *t)
{
        struct prof *p = t->prof;

        if (p->where == START) {
                p->where = TOP;
        } else if (p->where == TOP && p->value && is_key(p, "profile")) {
                begin_profile(t);
                node_begin(p, 1);
                p->where = NODE;
        } else if (p->where == CENTRES_LIST) {
                p->label[0] = p->module[0] = p->source[0] = '\0';
                p->id = 0;
                p->caf = false;
                p->where = CENTRE;
        } else if (p->where == CHILDREN && p->depth < DEEP) {
                node_begin(p, p->depth + 1);
                p->where = NODE;
        } else {
                p->skipped = 1;
                return p->where == CHILDREN ? "cost-centre stacks of at most 1024" : NULL;
        }
        return NULL;
}

static const char *open_list(struct text_log *t)
{
        struct prof *p = t->prof;

        if (p->where == TOP && p->value && is_key(p, "arguments"))
                p->where = WORDS;
        else if (p->where == TOP && p->value && is_key(p, "rts_arguments")) {
                add_word(p, "+RTS", 4);
                p->where = WORDS;
        } else if (p->where == TOP && p->value && is_key(p, "cost_centres"))
                p->where = CENTRES_LIST;
        else if (p->where == NODE && p->value && is_key(p, "children")) {
                p->where = CHILDREN;
                return add_node(t);
        } else
                p->skipped = 1;
        return NULL;
}

static const char *close_bracket(struct text_log *t, char c)
{
        static const enum where after[] = { [WORDS] = TOP, [CENTRES_LIST] = TOP, [CHILDREN] = NODE };
        struct prof *p = t->prof;
        const char *expected = NULL;

        if (c == ']' && (p->where == WORDS || p->where == CENTRES_LIST || p->where == CHILDREN)) {
                p->where = after[p->where];
        } else if (c == '}' && p->where == CENTRE) {
                put_centre(t);
                p->where = CENTRES_LIST;
        } else if (c == '}' && p->where == NODE) {
                expected = add_node(t);
                p->counted = true; /* what it is in was taken before its children */
                p->where = --p->depth > 0 ? CHILDREN : TOP;
        } else if (c == '}' && p->where == TOP) {
                p->where = OVER;
        } else {
                expected = contradict_json(p);
        }
        p->value = false;
        return expected;
}

/* ------------------------------------------------------------------- tokens */

static void add_char(struct prof *p, char c)
{
        if (p->n_text < TEXT_LABEL_MAX && c) /* a longer text is cut */
                p->text[p->n_text++] = c;
}

static void begin_token(struct prof *p, enum token token)
{
        p->token = token;
        p->n_text = 0;
}

static void end_string(struct prof *p)
{
        bool object = p->where == TOP || p->where == CENTRE || p->where == NODE;

        p->text[p->n_text] = '\0';
        p->token = BETWEEN;
        if (p->skipped)
                return;
        if (object && !p->value) {
                size_t n = p->n_text < KEY_MAX - 1 ? p->n_text : KEY_MAX - 1;
                memcpy(p->key, p->text, n);
                p->key[n] = '\0';
        } else if (p->where == WORDS) {
                add_word(p, p->text, p->n_text);
                p->after_word = true;
        } else if (p->where == CENTRE && is_key(p, "label")) {
                copy_text(p->label, p);
        } else if (p->where == CENTRE && is_key(p, "module")) {
                copy_text(p->module, p);
        } else if (p->where == CENTRE && is_key(p, "src_loc")) {
                copy_text(p->source, p);
        }
}

/* A character by its number, below 65536, as UTF-8; halves of pairs and NUL as a question mark. */
static void add_point(struct prof *p, uint32_t c)
{
        if (c < 0x80)
                add_char(p, c ? (char)c : '?');
        else if (c >= 0xd800 && c < 0xe000)
                add_char(p, '?');
        else if (c < 0x800) {
                add_char(p, (char)(0xc0 | c >> 6));
                add_char(p, (char)(0x80 | (c & 63)));
        } else {
                add_char(p, (char)(0xe0 | c >> 12));
                add_char(p, (char)(0x80 | (c >> 6 & 63)));
                add_char(p, (char)(0x80 | (c & 63)));
        }
}

static const char *in_string(struct prof *p, char c)
{
        static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
        static const char digits[] = "0123456789abcdef";
        const char *found;

        if (p->token == HEX) {
                found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
                p->hex = p->hex * 16 + (found ? (uint32_t)(found - digits) : 0);
                if (++p->n_hex == 4) {
                        add_point(p, p->hex);
                        p->token = STRING;
                }
                return found ? NULL : "four hexadecimal digits";
        }
        if (p->token == ESCAPE) {
                found = c ? strchr(letters, c) : NULL;
                p->token = c == 'u' ? HEX : STRING;
                p->hex = p->n_hex = 0;
                if (c != 'u')
                        add_char(p, found ? meant[found - letters] : c);
        } else if (c == '"') {
                end_string(p);
        } else if (c == '\\') {
                p->token = ESCAPE;
        } else {
                add_char(p, c);
        }
        return NULL;
}

static const char *in_skipped(struct prof *p, char c)
{
        p->skipped += c == '{' || c == '[';
        p->skipped -= c == '}' || c == ']';
        return NULL;
}

static const char *parse_between(struct text_log *t, char c)
{
        struct prof *p = t->prof;

        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
                return NULL;
        if (p->where == WORDS) {
                if (c == '"' ? p->after_word : c != ',' && c != ']')
                        return contradict_json(p);
                p->after_word = false;
        }
        if (c == '"')
                begin_token(p, STRING);
        else if (p->skipped)
                return in_skipped(p, c);
        else if (c == ':' || c == ',')
                p->value = c == ':';
        else if (c == '{' || c == '[') {
                const char *expected = c == '{' ? open_object(t) : open_list(t);
                p->value = false;
                return expected;
        } else if (c == '}' || c == ']')
                return close_bracket(t, c);
        else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-') {
                begin_token(p, WORD);
                add_char(p, c);
        } else
                return contradict_json(p);
        return NULL;
}

/* Whether this byte ends the key behind the arguments: then the next value is its, whatever was made of them. */
static bool ends_arguments(struct prof *p, char c)
{
        if (c != after_arguments[p->n_after_bytes])
                p->n_after_bytes = 0;
        p->n_after_bytes += c == after_arguments[p->n_after_bytes];
        if (p->n_after_bytes < sizeof(after_arguments) - 1)
                return false;
        p->n_after_bytes = 0;
        p->ambiguous |= p->where != TOP || p->token != BETWEEN || p->skipped || !is_key(p, "end_time");
        p->where = TOP;
        p->token = BETWEEN;
        p->skipped = 0;
        p->astray = false;
        p->past_arguments = p->value = true;
        return true;
}

static const char *prof_byte(struct text_log *t, char c)
{
        struct prof *p = t->prof;
        const char *expected = NULL;

        if (!p || p->broken || (p->where == OVER && c <= ' ' && c >= 0))
                return p ? NULL : "memory for a profile";
        if (p->n_words && !p->past_arguments && ends_arguments(p, c))
                return p->ambiguous ? ARGUMENTS_EXPECTED : NULL;
        if (p->astray)
                return NULL;
        if (p->token != BETWEEN && p->token != WORD)
                return in_string(p, c);
        if (p->token == WORD) {
                if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+' || c == 'E') {
                        add_char(p, c);
                        return NULL;
                }
                p->text[p->n_text] = '\0';
                p->token = BETWEEN;
                if (!p->skipped && p->value)
                        expected = parse_number(p);
        }
        const char *also = parse_between(t, c);
        return expected ? expected : also;
}

/* What is known at the end: all that was allocated, each cost centre's part of it. */
static const char *prof_end(struct text_log *t)
{
        struct prof *p = t->prof;

        if (!p)
                return NULL;
        if (p->allocated) {
                text_event(t, HW_HEAP_ALLOCATED, time_of_ticks(p, p->total_ticks));
                writer_number(&t->writer, 0, 4);
                writer_number(&t->writer, p->allocated, 8);
        }
        p->counters_due = true;
        t->waiting = p->n_centres > 0;
        return p->where == OVER || p->broken ? NULL : "the end of the profile: it was cut off";
}

static bool prof_whole(const struct text_log *t)
{
        return t->prof && t->prof->where == OVER && !t->prof->broken;
}

const struct text_reader text_prof = {
        .header = prof_header, .byte = prof_byte, .more = prof_more, .end = prof_end, .whole = prof_whole
};
