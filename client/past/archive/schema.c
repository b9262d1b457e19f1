/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/database.h"
#include "proto/base/array.h"

#define TEXT_OF(number) #number
#define NUMBER(number)  TEXT_OF(number)

/* Of one interval of a run; `time` is its start in Unix seconds. */
#define SERIES_COLUMNS                                                                                                 \
        " run INTEGER NOT NULL, series INTEGER NOT NULL, time INTEGER NOT NULL,"                                       \
        " n INTEGER NOT NULL, min REAL, max REAL, sum REAL NOT NULL, last REAL, last_ns INTEGER NOT NULL,"             \
        " area REAL NOT NULL, covered_ns INTEGER NOT NULL, rise REAL NOT NULL,"                                        \
        " mean REAL GENERATED ALWAYS AS (CASE WHEN n > 0 THEN sum / n END) VIRTUAL,"                                   \
        " PRIMARY KEY (run, series, time)) STRICT, WITHOUT ROWID;"
#define PAUSE_COLUMNS                                                                                                  \
        " run INTEGER NOT NULL, time INTEGER NOT NULL, generation INTEGER NOT NULL, pause_ns INTEGER NOT NULL,"        \
        " n INTEGER NOT NULL, PRIMARY KEY (run, time, generation, pause_ns)) STRICT, WITHOUT ROWID;"
#define BAND_COLUMNS                                                                                                   \
        " run INTEGER NOT NULL, time INTEGER NOT NULL, band INTEGER NOT NULL,"                                         \
        " n INTEGER NOT NULL, min REAL NOT NULL, max REAL NOT NULL, sum REAL NOT NULL, last REAL NOT NULL,"            \
        " last_ns INTEGER NOT NULL, mean REAL GENERATED ALWAYS AS (sum / n) VIRTUAL,"                                  \
        " PRIMARY KEY (run, time, band)) STRICT, WITHOUT ROWID;"

const char *const schema_sql[] = {
        "CREATE TABLE runs ("
        " id INTEGER PRIMARY KEY, target TEXT NOT NULL, host TEXT NOT NULL, number INTEGER,"
        " program TEXT, build_id TEXT, ghc TEXT, rts TEXT, pid INTEGER,"
        " start_ns INTEGER NOT NULL, first_ns INTEGER, seen_ns INTEGER, end_ns INTEGER,"
        " state TEXT, detail TEXT, exit_status INTEGER, exit_signal INTEGER, oom_killed INTEGER,"
        " breakdown TEXT, census_period_ns INTEGER, max_heap_bytes INTEGER, rts_options TEXT,"
        " verdict TEXT, slope REAL, slope_low REAL, slope_high REAL,"
        " limit_bytes INTEGER, limit_low_ns INTEGER, limit_mid_ns INTEGER, limit_high_ns INTEGER, growth TEXT, until "
        "TEXT,"
        " lost INTEGER NOT NULL DEFAULT 0, late_s INTEGER NOT NULL DEFAULT 0) STRICT;"
        "CREATE INDEX runs_of_target ON runs (target, start_ns);",
        "CREATE TABLE labels (run INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"
        " PRIMARY KEY (run, name)) STRICT, WITHOUT ROWID;"
        "CREATE TABLE series (id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL) STRICT;"
        "CREATE TABLE series_1m (" SERIES_COLUMNS "CREATE TABLE series_1h (" SERIES_COLUMNS
        "CREATE TABLE pauses_10m (" PAUSE_COLUMNS "CREATE TABLE pauses_1d (" PAUSE_COLUMNS
        "CREATE TABLE bands (run INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, label TEXT,"
        " PRIMARY KEY (run, id)) STRICT, WITHOUT ROWID;"
        "CREATE TABLE bands_10m (" BAND_COLUMNS "CREATE TABLE bands_1h (" BAND_COLUMNS
        "CREATE TABLE notes (run INTEGER NOT NULL, number INTEGER NOT NULL, time_ns INTEGER NOT NULL, what TEXT,"
        " thread INTEGER, text TEXT, PRIMARY KEY (run, time_ns, number)) STRICT, WITHOUT ROWID;"
        "CREATE TABLE alerts (run INTEGER NOT NULL, fingerprint INTEGER NOT NULL, since_ns INTEGER NOT NULL,"
        " rule TEXT, severity TEXT, band TEXT, state TEXT, fired_ns INTEGER, resolved_ns INTEGER,"
        " value TEXT, sentence TEXT, PRIMARY KEY (run, fingerprint, since_ns)) STRICT, WITHOUT ROWID;"
        "CREATE TABLE verdicts (run INTEGER NOT NULL, time_ns INTEGER NOT NULL, what TEXT NOT NULL, verdict TEXT NOT "
        "NULL,"
        " slope REAL, slope_low REAL, slope_high REAL, onset_ns INTEGER, sentence TEXT,"
        " PRIMARY KEY (run, what, time_ns)) STRICT, WITHOUT ROWID;",
        "CREATE VIEW minutes AS SELECT r.target, r.host, v.run, s.name AS series, s.unit,"
        " datetime(v.time, 'unixepoch') AS utc, v.n, v.min, v.mean, v.max, v.last, v.rise, v.time"
        " FROM series_1m v JOIN runs r ON r.id = v.run JOIN series s ON s.id = v.series;"
        "CREATE VIEW hours AS SELECT r.target, r.host, v.run, s.name AS series, s.unit,"
        " datetime(v.time, 'unixepoch') AS utc, v.n, v.min, v.mean, v.max, v.last, v.rise, v.time"
        " FROM series_1h v JOIN runs r ON r.id = v.run JOIN series s ON s.id = v.series;"
        "PRAGMA application_id = " NUMBER(SCHEMA_APPLICATION) "; PRAGMA user_version = " NUMBER(SCHEMA_VERSION) ";",
        NULL,
};

const struct schema_table schema_tables[] = {
        { "series_1m", "time", 30 * DAY_S, 2 },
        { "series_1h", "time", 730 * DAY_S, 6 },
        { "pauses_10m", "time", 90 * DAY_S, 3 },
        { "pauses_1d", "time", 730 * DAY_S, 7 },
        { "bands_10m", "time", 14 * DAY_S, 1 },
        { "bands_1h", "time", 180 * DAY_S, 4 },
        { "notes", "time_ns / 1000000000", 365 * DAY_S, 5 },
        { "alerts", "since_ns / 1000000000", 730 * DAY_S, 0 },
        { "verdicts", "time_ns / 1000000000", 730 * DAY_S, 0 },
};

const size_t n_schema_tables = ARRAY_SIZE(schema_tables);
