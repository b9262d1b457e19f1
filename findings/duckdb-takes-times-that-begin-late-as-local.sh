#!/bin/bash
# DuckDB 1.5.6: read_csv gives a column of times that end in Z the type TIMESTAMP WITH TIME ZONE, but TIMESTAMP if the
# first 2,047 rows have none, however many rows follow: then the Z is dropped, and where the session's zone is not UTC the
# same cells are other moments. So a file of measurements whose times begin late (a clock that was not known at first)
# does not join with the same file of another run. With sample_size=-1, which lets it read all rows first, it is the same.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit @duckdb/node-api@1.5.6-r.1
for empty in 2046 2047; do
        { echo n,seen; seq 1 $empty | sed 's/$/,/'; seq 1 5000 | sed 's/$/,2026-11-20T18:10:00Z/'; } > $empty.csv
done
cat > read.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api'
const db = await (await DuckDBInstance.create(':memory:')).connect()
await db.run("SET TimeZone = 'America/New_York'")
for (const file of ['2046.csv', '2047.csv']) {
        const rows = await db.runAndReadAll(`SELECT DISTINCT typeof(seen), (epoch(seen::TIMESTAMPTZ) -
                epoch('2026-11-20T18:10:00Z'::TIMESTAMPTZ))::INT FROM read_csv('${file}') WHERE seen IS NOT NULL`)
        console.log(file, rows.getRows().map((row) => `${row[0]}, ${row[1]} s late`).join(' '))
}
JS
node read.mjs | tee seen
diff - seen << 'END' || { echo "changed"; exit 1; }
2046.csv TIMESTAMP WITH TIME ZONE, 0 s late
2047.csv TIMESTAMP, 18000 s late
END
echo "as seen: one empty row more, and the same times are five hours later"
