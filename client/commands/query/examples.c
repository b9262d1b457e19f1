/* SPDX-License-Identifier: BSD-3-Clause */
/* examples.c - questions that a newcomer has, each with a query that answers it. */
#include "client/commands/query/module.h"

const struct query_example query_examples[] = {
        { "What is in it?", "SELECT program, ghc, state, elapsed, breakdown FROM runs", 1 },
        { "How much is live, by tenths of a second?",
          "SELECT bucket(time, '100 ms') AS time, max(value) AS live FROM series WHERE series = 'live' GROUP BY 1", 1 },
        { "Which bands grow, how fast at least, and since when?",
          "SELECT name, slope(time, bytes) AS slope, slope_low(time, bytes) AS slope_low, onset(time, bytes) AS onset,"
          " sparkline(time, bytes) AS shape FROM bands GROUP BY name HAVING slope_low > 0 ORDER BY slope DESC LIMIT 10",
          1 },
        { "What is different in another run?",
          "SELECT name, old, new, change FROM diff WHERE change <> 0 ORDER BY abs(change) DESC LIMIT 20", 2 },
        { "How long are pauses, by generation?",
          "SELECT generation, pauses, duration(p50) AS p50, duration(p99) AS p99, duration(longest) AS longest"
          " FROM pauses",
          1 },
        { "What was allocated in the second before each of the longest pauses?",
          "WITH a AS MATERIALIZED (SELECT time, value FROM series WHERE series = 'allocated'), p AS MATERIALIZED"
          " (SELECT time, pause FROM collections WHERE pause IS NOT NULL ORDER BY pause DESC LIMIT 5)"
          " SELECT p.time, p.pause, max(a.value) - min(a.value) AS allocated"
          " FROM p JOIN a ON a.time BETWEEN p.time - 1 AND p.time GROUP BY p.time",
          1 },
        { "What did each phase of the program allocate?",
          "SELECT phase, time, until - time AS lasted, allocated FROM phases", 1 },
        { "Which bands grow after a marker, and how did they grow before?",
          "WITH m AS MATERIALIZED (SELECT min(time) AS t FROM notes WHERE what = 'marker' AND text LIKE '%steady%')"
          " SELECT name, slope(time, bytes) FILTER (WHERE time < t) AS before,"
          " slope(time, bytes) FILTER (WHERE time >= t) AS after"
          " FROM bands, m GROUP BY name HAVING after > 0 ORDER BY after DESC LIMIT 10",
          1 },
        { "Which threads, by label, ran longest?",
          "SELECT ifnull(label, '(none)') AS label, count(*) AS threads, sum(running) AS running, sum(runs) AS runs"
          " FROM threads GROUP BY 1 ORDER BY running DESC LIMIT 10",
          1 },
        { "How much of the heap is in use, and how much of the blocks?",
          "SELECT time, live, blocks, heap, round(1.0 * live / blocks, 3) AS of_blocks, heap - blocks AS free FROM "
          "memory",
          1 },
        { "Which events are most of the log?",
          "SELECT name, count(*) AS n, sum(size) AS bytes FROM events GROUP BY name ORDER BY bytes DESC LIMIT 10", 1 },
        { "Where in the source is what grows most?",
          "SELECT b.name, n.place, slope(b.time, b.bytes) AS slope FROM bands AS b"
          " JOIN band_names AS n USING (source, run, band)"
          " GROUP BY b.source, b.run, b.band ORDER BY n.place IS NULL, slope DESC LIMIT 10",
          1 },
        { NULL, NULL, 0 },
};
