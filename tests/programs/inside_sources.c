/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What -finfo-table-map -fdistinct-constructor-tables of GHC 9.10 puts into a program, in few words and made by hand,
 * for Inside.hs and a GHC that does not have it. The test writes the address of a return point over that of its
 * function.
 */
#include <stddef.h>
#include <stdint.h>

extern const char Main_sessions_info[], Main_Session_con_info[], Main_waitForReply1_info[];

static const struct {
        char unit[5], module[5], none[1], file[10];
        char sessions[14], sessions_type[28], sessions_label[9], sessions_span[8];
        char session[24], session_type[8], session_label[13], session_span[9];
        char waiting[16], waiting_label[13], waiting_span[9];
} texts = {
        "main",
        "Main",
        "",
        "Inside.hs",
        "sessions_info",
        "IORef (M.Map Int Session)",
        "sessions",
        "27:1-43",
        "Session_Main_0_con_info",
        "Session",
        "fillSessions",
        "31:54-81",
        "block_c6rN_info",
        "waitForReply",
        "39:27-36",
};

#define AT(member) offsetof(__typeof__(texts), member)

static const struct {
        uint32_t table, closure, type, label, file, span;
} entries[] = {
        { AT(sessions), 21, AT(sessions_type), AT(sessions_label), AT(file), AT(sessions_span) },
        { AT(session), 1, AT(session_type), AT(session_label), AT(file), AT(session_span) },
        { AT(waiting), 53, AT(none), AT(waiting_label), AT(file), AT(waiting_span) },
};

static const char *const tables[] = { Main_sessions_info, Main_Session_con_info, Main_waitForReply1_info };

__attribute__((used)) static struct {
        void *next;
        uint64_t compressed, count;
        const void *tables, *entries;
        uint64_t entries_bytes;
        const void *texts;
        uint64_t texts_bytes;
        uint32_t unit, module;
} node = { NULL, 0, 3, tables, entries, sizeof(entries), &texts, sizeof(texts), AT(unit), AT(module) };

/* GHC has one, too, which enters the node into the runtime's list; and by which the linker keeps it. */
__attribute__((constructor)) static void enter(void)
{
        node.next = NULL;
}
