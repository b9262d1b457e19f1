# SPDX-License-Identifier: BSD-3-Clause
"""An eventlog that a test writes, beginning now: one capability, heap events and censuses only.

    log = LiveLog(path)
    log.live(20 << 20)              # now
    log.census({"FUN": 1000})
    log.end()
"""
import struct
import time

GC_START, GC_END, REQUEST_SEQ_GC, GC_STATS = 9, 10, 11, 53
PROGRAM_ARGS, PROGRAM_ENV, OSPROCESS_PID = 30, 31, 32
BLOCK_MARKER, CAPSET_CREATE, WALL_CLOCK_TIME, HEAP_ALLOCATED, HEAP_SIZE, HEAP_LIVE, HEAP_INFO = 18, 25, 43, 49, 50, 51, 52
USER_MARKER, INFO_TABLE, BINARY = 58, 169, 181
PROFILE_BEGIN, SAMPLE_BEGIN, SAMPLE_ROW, SAMPLE_END = 160, 162, 164, 165
OUTSIDE_GENERATION, OUTSIDE_COLLECTIONS, OUTSIDE_THREADS, OUTSIDE_BAND_THREADS = 250, 251, 252, 253
NO_CAPABILITY = 0xFFFF
VARIABLE = 0xFFFF
SIZES = {REQUEST_SEQ_GC: 0, GC_START: 0, GC_END: 0, GC_STATS: 58, PROGRAM_ARGS: VARIABLE, PROGRAM_ENV: VARIABLE, OSPROCESS_PID: 8, USER_MARKER: VARIABLE, INFO_TABLE: VARIABLE, BINARY: VARIABLE, PROFILE_BEGIN: VARIABLE, SAMPLE_BEGIN: 8, SAMPLE_ROW: VARIABLE, SAMPLE_END: 8, BLOCK_MARKER: 14, CAPSET_CREATE: 6, WALL_CLOCK_TIME: 16, HEAP_ALLOCATED: 12, HEAP_SIZE: 12, HEAP_LIVE: 12, HEAP_INFO: 38,
         OUTSIDE_GENERATION: 24, OUTSIDE_COLLECTIONS: 20, OUTSIDE_THREADS: 12, OUTSIDE_BAND_THREADS: 12}


class LiveLog:
    def __init__(self, path, start_wall_ns=None, known_length=True, capability=0):
        """
        `start_wall_ns`: Unix time of event time 0; now, if not given. `known_length` False: an event outside blocks
        keeps readers from walking the file to its end first, so a finished log is judged in steps of a minute.
        `capability`: whose blocks these are; NO_CAPABILITY: as of a program that is watched from outside.
        """
        self.path = path
        self.capability = capability
        self.began = time.monotonic_ns()
        wall = start_wall_ns or time.time_ns()
        clock = self._event(WALL_CLOCK_TIME, struct.pack(">IQI", 0, wall // 10**9, wall % 10**9), at_ns=1)
        self._append(self._header() + (self._block(clock, 1) if known_length else clock))
        self.profiled, self.census_period_ns = False, 10**8

    def _append(self, data):
        with open(self.path, "ab") as f:
            f.write(data)

    @staticmethod
    def _header():
        types = b""
        for number, size in SIZES.items():
            types += b"etb\0" + struct.pack(">HHI", number, size, 1) + b"x" + struct.pack(">I", 0) + b"ete\0"
        return b"hdrb" + b"hetb" + types + b"hete" + b"hdre" + b"datb"

    def _event(self, number, payload, at_ns=None):
        size = b""
        if SIZES[number] == VARIABLE:
            size = struct.pack(">H", len(payload))
        else:
            assert len(payload) == SIZES[number]
        return struct.pack(">HQ", number, self.now() if at_ns is None else at_ns) + size + payload

    def _block(self, events, at_ns, begin_ns=None):
        size = 10 + SIZES[BLOCK_MARKER] + len(events)
        marker = struct.pack(">IQH", size, at_ns, self.capability)
        return self._event(BLOCK_MARKER, marker, at_ns if begin_ns is None else begin_ns) + events

    def now(self):
        return time.monotonic_ns() - self.began

    def heap_info(self, max_heap, generations=2, at_ns=None):
        """How the runtime was started: -M in bytes (0: none) and -G."""
        at = self.now() if at_ns is None else at_ns
        self._append(self._block(self._event(HEAP_INFO, struct.pack(">IHQQQQ", 0, generations, max_heap, 1 << 20, 1 << 20, 4096), at), at))

    def live(self, n_bytes, at_ns=None, heap=None):
        """A major collection left this many bytes; `heap`: the size of the heap then, three times as much if not given."""
        at = self.now() if at_ns is None else at_ns
        self._append(self._block(self._event(HEAP_SIZE, struct.pack(">IQ", 0, 3 * n_bytes if heap is None else heap), at) +
                                 self._event(HEAP_LIVE, struct.pack(">IQ", 0, n_bytes), at), at))

    def collection(self, at_ns, pause_ns, fragmentation=0, heap=None, sync_ns=None):
        """A major collection that ended then; `heap`: the size of the heap after it; `sync_ns`: how long capabilities were waited for."""
        events = b"" if sync_ns is None else self._event(REQUEST_SEQ_GC, b"", at_ns - pause_ns - sync_ns)
        events += self._event(GC_START, b"", at_ns - pause_ns)
        events += self._event(GC_STATS, struct.pack(">IHQQQIQQQ", 0, 1, 0, 0, fragmentation, 1, 0, 0, 0), at_ns)
        events += self._event(GC_END, b"", at_ns)
        if heap is not None:
            events += self._event(HEAP_SIZE, struct.pack(">IQ", 0, heap), at_ns)
        self._append(self._block(events, at_ns, at_ns - pause_ns - (sync_ns or 0)))

    def allocated(self, n_bytes, at_ns=None):
        """So much has been allocated since the program's start."""
        at = self.now() if at_ns is None else at_ns
        self._append(self._block(self._event(HEAP_ALLOCATED, struct.pack(">IQ", 0, n_bytes), at), at))

    def counted(self, collections, allocated, collecting_ns, at_ns):
        """As of a program that is watched from outside: how often each generation was collected, and sums. None: not known."""
        unknown = (1 << 64) - 1
        events = b"".join(self._event(OUTSIDE_GENERATION, struct.pack(">IHHQQ", 0, i, len(collections), n, 0), at_ns)
                          for i, n in enumerate(collections))
        events += self._event(OUTSIDE_COLLECTIONS, struct.pack(">IQQ", 0, unknown, unknown if collecting_ns is None else collecting_ns), at_ns)
        events += self._event(HEAP_ALLOCATED, struct.pack(">IQ", 0, allocated), at_ns)
        events += self._event(HEAP_SIZE, struct.pack(">IQ", 0, 8 << 20), at_ns)
        self._append(self._block(events, at_ns))

    def threads(self, n, at_ns):
        """As of a program that is watched from outside: so many Haskell threads live."""
        self._append(self._block(self._event(OUTSIDE_THREADS, struct.pack(">IQ", 0, n), at_ns), at_ns))

    def census(self, rows, at_ns=None, threads=()):
        """A heap profile sample by closure type: {label: bytes}; `threads`: {label: how many they are}."""
        at = self.now() if at_ns is None else at_ns
        events = b""
        if not self.profiled:
            events += self._event(PROFILE_BEGIN, struct.pack(">BQI", 0, self.census_period_ns, 128) + bytes(7), at)
            self.profiled = True
        events += self._event(SAMPLE_BEGIN, struct.pack(">Q", 0), at)
        for label, size in rows.items():
            if label in threads:
                events += self._event(OUTSIDE_BAND_THREADS, struct.pack(">IQ", 0, threads[label]), at)
            events += self._event(SAMPLE_ROW, struct.pack(">BQ", 0, size) + label.encode() + b"\0", at)
        self._append(self._block(events + self._event(SAMPLE_END, struct.pack(">Q", 0), at), at))

    def marker(self, text, at_ns=None):
        """As traceMarkerIO writes one."""
        at = self.now() if at_ns is None else at_ns
        self._append(self._block(self._event(USER_MARKER, text.encode(), at), at))

    def binary(self, *messages, at_ns=None):
        """As traceBinaryEvent# writes them."""
        at = self.now() if at_ns is None else at_ns
        self._append(self._block(b"".join(self._event(BINARY, m, at) for m in messages), at))

    def info_table(self, key, label, place, at_ns=None):
        """What -finfo-table-map tells of code of the module Main."""
        at = self.now() if at_ns is None else at_ns
        texts = "".join(t + "\0" for t in (f"{label}_info", "14", "", label, "Main", place))
        self._append(self._block(self._event(INFO_TABLE, struct.pack(">Q", key) + texts.encode(), at), at))

    def program(self, arguments, environment):
        """How it was started: lists of texts."""
        def texts(number, values):
            return self._event(number, struct.pack(">I", 0) + b"".join(v.encode() + b"\0" for v in values), at)

        at = self.now()
        self._append(self._block(texts(PROGRAM_ARGS, arguments) + texts(PROGRAM_ENV, environment), at))

    def process(self, pid):
        at = self.now()
        self._append(self._block(self._event(OSPROCESS_PID, struct.pack(">II", 0, pid), at), at))

    def end(self):
        self._append(struct.pack(">H", 0xFFFF))
