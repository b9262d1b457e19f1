/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: each text says what is missing and what to type, for a reader who
 * has never seen the runtime's manual. What the runtime does when a flag is
 * missing was measured with GHC 9.0, 9.6 and 9.10.
 */
#include "proto/eventlog/advice.h"

#include <stddef.h>

static const char *const texts[HW_ADVICE_COUNT] = {
        [HW_ADVICE_NO_GC_EVENTS] =
                "Garbage collections are not in the log, so heap size, live bytes and pauses are unknown: run the "
                "program with +RTS -l -RTS, or add g to the classes it names (for example +RTS -l-ag -RTS).",
        [HW_ADVICE_NO_HEAP_PROFILE] =
                "There is no heap profile, so what fills the heap is unknown: add +RTS -hT -i1 -RTS (closure "
                "types, any build), or compile with -finfo-table-map -fdistinct-constructor-tables (GHC 9.2 or "
                "newer) and add +RTS -hi -i1 -RTS, or compile with -prof and add +RTS -hc -i1 -RTS.",
        [HW_ADVICE_NOT_FLUSHED] =
                "The program keeps its events in buffers for a long time, and a live view gets them late: let a thread "
                "of "
                "it call Debug.Trace.flushEventLog once a second (GHC 9.2 or newer), or compile with "
                "-threaded and add +RTS --eventlog-flush-interval=1 -RTS, which may hang the program when it exits.",
        [HW_ADVICE_FLUSH_NOT_THREADED] =
                "--eventlog-flush-interval damages the log of a program that is not compiled with -threaded: "
                "remove it and let a thread of the program call Debug.Trace.flushEventLog once a second, or "
                "compile with -threaded.",
        [HW_ADVICE_FLUSH_EXIT_DEADLOCK] =
                "--eventlog-flush-interval may hang the program when it exits (GHC before 10.0, the shorter the "
                "interval the more often): remove it and let a thread of the program call "
                "Debug.Trace.flushEventLog once a second.",
        [HW_ADVICE_PROFILE_NOT_THREADED] =
                "A time profile (-p) beside other events damages the log of a program that is not compiled with "
                "-threaded: compile with -prof -threaded, or remove -p.",
        [HW_ADVICE_OLD_GHC] =
                "GHC before 9.2 writes its log only when a 2 MiB buffer is full or the program exits, so a live "
                "view is late: compile with GHC 9.2 or newer and let a thread of the program call "
                "Debug.Trace.flushEventLog once a second.",
        [HW_ADVICE_NO_IPE] =
                "The heap profile is by info table (-hi) but the program has no table of names, so bands are bare "
                "addresses: compile it and its libraries with -finfo-table-map -fdistinct-constructor-tables.",
        [HW_ADVICE_BIOGRAPHY_AT_EXIT] =
                "A biographical profile (-hb) is written when the program exits, so no census comes before: to "
                "watch it live use +RTS -hT -i1 -RTS, or +RTS -hc -i1 -RTS in a program compiled with -prof.",
        [HW_ADVICE_RETAINER_MANY] =
                "In a retainer profile (-hr) closures with many retainers are not in the log, so its sum is less "
                "than the live heap: add +RTS -R64 -RTS to keep larger retainer sets apart.",
        [HW_ADVICE_TICKY_AT_EXIT] =
                "The runtime names its ticky counters when the program exits, so until then they are shown by "
                "number: let the program end by itself, not by a signal, to see the names.",
        [HW_ADVICE_UNDEFINED_COST_CENTRES] =
                "The log was joined after its cost centres were defined, so some are shown as cc#number: start "
                "heapwatch before the program, for example with heapwatch run -- PROGRAM.",
        [HW_ADVICE_NO_USER_EVENTS] =
                "Messages and markers of the program are switched off, so no notes are shown: run it with +RTS -l "
                "-RTS, or add u to the classes it names (for example +RTS -l-agu -RTS).",
        [HW_ADVICE_NO_RTSOPTS] =
                "The program refuses runtime flags: link it with -rtsopts, or build the flags in with "
                "\"-with-rtsopts=-l -hT -i1\".",
        [HW_ADVICE_NO_EVENTLOG] =
                "The program was linked without an eventlog, which GHC before 9.4 leaves out: link it with "
                "-eventlog -rtsopts and run it with +RTS -l -RTS.",
        [HW_ADVICE_FEW_MAJOR] =
                "Live bytes are known after major collections only, and these are rare here, so the number is old: "
                "a heap profile makes one at each census (add +RTS -hT -i10 -RTS, but not with the nonmoving collector "
                "of GHC before 9.8.3), or the program can call System.Mem.performMajorGC now and then.",
        [HW_ADVICE_PROCESS_ONLY] =
                "Only the program's process is watched, so live data, bands and collections are unknown: "
                "`heapwatch doctor PROGRAM` says why its log cannot be read; a program that is not stripped (cabal: "
                "executable-stripping: False; stack: --no-strip) is watched from inside, with no flag.",
        [HW_ADVICE_SEVERAL_PROCESSES] =
                "Several processes wrote this log, into one file at once or merged by ghc-events merge: its events do "
                "not say whose they are, so its numbers are of all together. Read the log of each by itself; give each "
                "process a file of its own (+RTS -olFILE).",
        [HW_ADVICE_PROFILE_REFUSED] =
                "There is no heap profile, so what fills the heap is unknown, and its collector ends a program that "
                "is given one, as the nonmoving one does before GHC 9.8.3 and -w without -prof: heapwatch heap and "
                "heapwatch why read the heap while it runs; for bands over time run it without --nonmoving-gc (-xn) "
                "and -w, and with +RTS -hT -i1 -RTS.",
};

const char *hw_advice_text(enum hw_advice code)
{
        return (size_t)code < HW_ADVICE_COUNT ? texts[code] : NULL;
}
