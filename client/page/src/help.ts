// SPDX-License-Identifier: BSD-3-Clause
/*
 * help.ts - what each number of a page is, where it comes from, and what to make of it. Names are those on the screen: a test checks
 * that every name on every page is here.
 */
type Words = Record<string, string>;

const SIZES: Words = {
    "Live data": "What the program can still reach, as the last major collection found it. Between major collections it is known only of a program that is watched from outside.",
    "Heap size": "What the runtime holds from the system in megablocks. The collector's own need is -F (2 by default) plus 2 times the live data when it copies, 1.2 when it compacts (-c) or does not move (-xn), and the allocation areas.",
    "RSS": "Resident memory of the process, from /proc: heap, C code, stacks, libraries. Known for programs on the daemon's machine.",
};

const BANDS: Words = {
    "Largest bands": "The heap profile: bytes of each band at each census, stacked. What a band is follows from the flag: -hT closure types, -hi places in " +
        "the source, -hc call stacks, -hm modules, -hy types, -hr retainers. “other” is the rest, so that the stack is the whole census.",
    "Largest bands, share of the whole": "The same, each census as 100 %.",
};

const ANSWERS: Words = {
    "Is anything wrong?": "How the program ended, if it did; then the verdict: a leak grows to new highs and does not slow down, growing may still level off, " +
        "steady has no lasting growth. The rate is a robust slope with its interval of about 95 %. docs/VERDICT.md says how it is found.",
    "Since when?": "When the growth began, and the program's notes near that moment (traceMarker, traceEvent).",
    "What grows?": "The bands of the heap profile that gained most, with type, module and place in the source where the log has them.",
    "Where?": "In live data (the program holds it), on the heap beyond live data (the runtime holds it), or in foreign memory (C, FFI, malloc).",
    "Why is it kept?": "What keeps alive what grows, the largest holder with its share and the path, as an alert has found out in the program's memory at that moment; or the command that finds it out.",
    "Until when?": "When the growth reaches the smallest known limit: -M, the control group's, --limit, or the machine's memory; earliest to latest.",
    "What next?": "What the evidence supports: a file to read, a profile to switch on, a command.",
};

const OF_PAGE: Record<string, Words> = {
    target: {
        ...ANSWERS, "Live data, heap and process": `${SIZES["Live data"]} ${SIZES["Heap size"]} ${SIZES["RSS"]}`,
        "Post-mortem": "After a crash or a kill, what heapwatch post-mortem prints: how it ended as far as parent and kernel know, its memory then against the " +
            "limit, the bands that grew most since their first census, its last notes and pauses, and what the stream lost.",
        ...BANDS,
    },
    overview: {
        ...SIZES, "targets": "All watched targets, including ended ones that are kept.", "running": "Targets whose events are arriving.", "live data": "The sum over all targets whose program has not ended.",
        "heap size": "The sum over all targets whose program has not ended.", "rising or growing": "Targets that rise, or whose verdict is growing or leak; ended ones, too.",
        "alerts firing": "Of all targets; silenced ones and parts of another alert are not counted.", "Target": "Its name; the program's own is on Stream health.", "Heap": `${SIZES["Heap size"]}`, "Live": "Live data now.",
        "program": "The name of argument 0.",
    },
    heap: {
        ...BANDS, ...ANSWERS, "Live data, blocks, heap and process": `Four curves, one above the other: ${SIZES["Live data"]} Blocks in use: what the collector has handed out. ` +
            `${SIZES["Heap size"]} ${SIZES["RSS"]}`,
        "Is it live data?": "The program's own data, and its share of the blocks.", "Is it fragmentation?": "Heap beyond what the collector's own sizing would hold for the live data.",
        "Is it kept by the runtime?": "Heap beyond the runtime's need; where that is not known, what is held and not in use.",
        "Is it given back?": "Freed by the runtime with MADV_FREE: resident until the kernel needs it. Nothing to do.", "Is it foreign?": "Resident memory of malloc, C code, FFI and stacks.",
        "What resident memory is made of": "RSS in six parts that add up to it: live data; slop and copy reserve, which the runtime needs besides; kept by the runtime, " +
            "heap beyond its need; given back, which the kernel takes when it needs memory; files, of the binary, libraries and other mapped files, which the kernel takes, too; foreign, the rest: malloc, C code, stacks.",
    },
    detail: {
        "Curve": "The band over the chosen range, from 0.", "Band": "Its label in the heap profile.", "Mean": "Over the censuses of this range.", "now": "In the newest census.",
        "integrated over time": "Bytes times seconds under the curve.", "mean ± deviation": "Over the censuses of this range.", "slope": "Robust where judged.", "intercept": "At the program's start.", "verdict": "Of this band alone.",
        "growth began": "When its growth began.", "number": "Of the band in this run.", "first seen": "The first census with it.",
    },
    gc: {
        "heap censuses, of the pauses": "Collections that the heap profile made for its censuses. If this is much, use a longer -i.", "Pauses": "The longest pause of each moment, on a logarithmic axis.",
        "Share of time spent in collections": "Pauses added up over intervals of the range.", "Pauses by length, since the run began": "The number of pauses of each length, by generation.",
        "Copied by each collection": "What survives is copied: this is what a collection costs.", "Slop and free blocks": "What each collection left unused: within blocks, and blocks as a whole.",
        "Balance of parallel collections": "100 %: all threads copied as much.", "Generation": "0 is the youngest.", "Collections": "Since the run began.", "Parallel": "Those with more than one thread.",
        "p50": "Half of the pauses are shorter; within 3 %.", "p99": "99 of 100 pauses are shorter; within 3 %.", "Longest": "The longest pause.", "Total": "All pauses.", "objects marked, last": "By the last mark.",
        "segments pruned": "Given back.", "free segments": "Kept for later.", "Block size": "Of the segments of this row.", "Active segments": "Being allocated into.", "Filled segments": "Full.",
        "Live blocks": "In use in all of these.",
    },
    profile: {
        "Samples by stacks": "Of the profile that was taken; the width is the share of its CPU time, of the bytes that Haskell threads allocated, or of the time for which Haskell threads wait: there the lowest boxes say for what. Top down: below a function what it calls. Bottom up: below a function who calls it. Of all threads, or of one: threads with one label but for their numbers are one. With the keyboard: arrows, Enter zooms, Escape resets.",
        "Function": "By its symbol; a local function by its module and the next symbol in the file. In brackets: no function.", "Of all": "Of the CPU time or the bytes that are shown.",
        "With callees": "With all that it calls; of a cost centre: samples with it anywhere on the stack.",
        "Cost-centre stacks by ticks": "Where the time profile's samples found the program; the width is the share of ticks in the range.", "Cost centre": "A function or SCC of the profiled program.", "Own": "Of all ticks.",
        "Share": "Of all ticks.", "Source": "Where it is.", "Counter": "A ticky counter: a closure's code.", "Entries": "How often it was entered.", "Allocated by": "Bytes that its code allocated.",
        "Allocated of": "Bytes of closures of this kind.", "Arity": "Arguments.", "Arguments": "Their kinds, as the runtime writes them.",
    },
    holders: {
        "Who holds what": "What lies in a rectangle is held by it alone and would go with it; areas are bytes. At the top are roots (top-level values, threads, stable pointers), and types that several roots hold. Types that repeat, as in a list, are one. " +
            "With the keyboard: arrows move, Enter opens, Escape goes back up.",
        "Held": "A type that what is opened above alone holds, or a root; itself: its own closures.", "Bytes": "Of the closures of the type, reached or not; in what is held: with all that it alone holds.", "Share": "Of what is opened.",
        "Own": "Of its own closures there.", "Closures": "Their number.", "Type": "A constructor by its full name, a function or thunk by its symbol, all else by the runtime's type of closure.",
        "Holds": "What most of its closures are, by the types of what they hold.", "Of the heap": "Share of all bytes.", "Gained": "Bytes since the reading before, of this run.", "Retains": "What would go with all closures of the type, by the tree of dominators; what lies below another one of the type counts once.",
        "Unreached": "That no root holds: garbage until the next major collection, or in a pinned block that something else keeps.", "Root": "A top-level value (CAF) by its name, threads of one kind, stable and weak pointers, what C memory seems to hold.",
        "Number": "Of roots with this name.", "Would go": "With all of them.",
    },
    threads: {
        "Threads": "With this state and this stack: one group. One that grows from one reading to the next is threads that nobody ends.",
        "Gained": "Since the reading before, in number and a second: of all groups with the same state and innermost frames.", "Doing": "What each of them does, or waits for; on the same one: all wait for the same value.",
        "Where": "The innermost function on their stacks that is none of the runtime's.", "Stack": "In use, over all chunks of each stack; the least and the most.", "Allocated": "By all of them together, since each began.",
        "Capability": "One of +RTS -N.", "Use": "Haskell, collections; the rest is idle or waiting.", "Haskell": "Of the time since the run began.", "GC": "Collections, of the time since the run began.",
        "Ran": "Time in Haskell threads.", "Runs": "Times that a thread ran.", "Why threads stop": "As the scheduler reports it.", "Times": "Since the run began.", "Share": "Of all stops.", "Time": "When it was labelled.",
        "Thread": "Its number.", "Label": "By labelThread.",
    },
    notes: {
        "No.": "In the order of arrival.", "Time": "When it was written.", "Kind": "Marker (traceMarker), message (traceEvent), label of a thread …", "Cap.": "The capability that wrote it.",
        "Text": "The message; repeated ones are folded.", "Size": "As the program wrote it, before any cut.",
    },
    alerts: {
        "State": "Pending: holds, but not for long enough; firing; resolved. Colour and order follow the severity.", "Rule": "docs/RULES.md has the built-in ones.", "Target": "The one that it is about.",
        "Bands, parts": "Its band, or the bands and rules that it counts as one with.", "Severity": "The greatest of the rule's own and those of its parts.", "Value": "Of the rule's expression.", "Threshold": "What it is compared with.", "Fired": "When it fired, or began to hold.",
        "Evidence": "In a sentence.", "Time": "When it changed.", "Change": "From one state to another.", "expression": "As written in the rule.", "value": "Of the expression now.",
        "pending since": "Since when it holds.", "fired": "When it held for long enough.", "resolved": "When it no longer held.",
    },
    stream: {
        "source": "Where the bytes come from.", "state": "Of the source.", "because": "Why it is in this state.", "since": "When that began.", "bytes last arrived": "By the daemon's clock.",
        "event time": "The newest, since the program's start.", "complete up to": "All earlier events have arrived.", "recording": "Whether the flight recorder takes the stream; it resumes by itself.",
        "info tables": "Defined in the log.", "info tables beyond the limit": "Left out.", "cost centres beyond the limit": "Left out.", "labels": "Given to this run: heapwatch run --label.", "program": "Argument 0.",
        "runtime": "As the log says.", "RTS options": "Those between +RTS and -RTS.", "process": "Its number.", "started": "By the clock of its machine.", "daemon": "The one that reads it.", "daemon's version": "Of heapwatchd.",
        "daemon's memory": "Resident, for all targets.", "Offset": "Of the first bad byte.", "Lost": "Bytes skipped there.", "Reason": "What was wrong.",
        "Number": "The name of the table of facts, with its unit; in metrics it is that with heapwatch_ before it.", "Value": "Now.", "What it is": "As in the list of metrics.",
    },
    compare: {
        "Band": "Joined on the label: numbers of bands differ between runs.", "A: mean": "Over the censuses of A's range.", "B: mean": "Over the censuses of B's range.", "of A": "B as a share of A.", "A: slope": "Of A's range.",
        "B: slope": "Of B's range.", "Difference": "Of the slopes.", "Quantity": "Of whole runs, as heapwatch diff compares them.", "A": "Its value in A.", "B": "Its value in B.",
    },
};

// What is on the screen now, in order: names, each with the page's words for it, or else those of its tooltip.
export function explained(page: string, main: Element): (readonly [string, string])[] {
    const all = [...main.querySelectorAll<HTMLElement>(".thead .sort, dt, figcaption h3, .question h4")].filter((e) => e.offsetParent !== null);
    const found = new Map(all.map((e) => {
        const name = (e.firstChild?.textContent ?? "").trim();
        return [name, OF_PAGE[page]?.[name] ?? e.parentElement!.title] as const;
    }));
    return [...found].filter(([name, words]) => name && words);
}
