#!/bin/bash
# parse-prometheus-text-format 1.1.1 (npm): a page that reads /metrics itself gets a histogram of each of two programs
# (pauses of the collector, with the label target). What is in the result? Expected: two entries with labels, as of a
# gauge, and as the README shows it of a summary without quantiles. But of a histogram, and of a summary, there is one
# entry, without labels, count or sum: the buckets of all series are put into one object by their bound, so that each is
# that of the last program that has the bound, and the entry is a mixture where bounds differ: below, 8 pauses are up to
# 10 ms and 5 of any length. Nothing is said. With one series without labels, as in the README, all is there.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit parse-prometheus-text-format@1.1.1
cat > metrics <<'M'
# TYPE live_bytes gauge
live_bytes{target="api"} 10
live_bytes{target="mail"} 20
# TYPE pause_seconds histogram
pause_seconds_bucket{target="api",le="0.001"} 7
pause_seconds_bucket{target="api",le="0.01"} 8
pause_seconds_bucket{target="api",le="+Inf"} 9000
pause_seconds_sum{target="api"} 500
pause_seconds_count{target="api"} 9000
pause_seconds_bucket{target="mail",le="0.001"} 5
pause_seconds_bucket{target="mail",le="+Inf"} 5
pause_seconds_sum{target="mail"} 0.002
pause_seconds_count{target="mail"} 5
# TYPE mark_seconds summary
mark_seconds{target="api",quantile="0.5"} 4
mark_seconds_sum{target="api"} 400
mark_seconds_count{target="api"} 100
mark_seconds{target="mail",quantile="0.5"} 0.1
mark_seconds_sum{target="mail"} 1
mark_seconds_count{target="mail"} 10
M
cat > read.mjs <<'J'
import { readFileSync } from 'fs'
import parse from 'parse-prometheus-text-format'
for (const { name, metrics } of parse(readFileSync('metrics', 'utf8')))
        for (const entry of metrics) console.log(name, JSON.stringify(entry))
J
node read.mjs | tee seen
diff - seen <<'E' || { echo "changed: expected one histogram and one summary, without labels"; exit 1; }
live_bytes {"value":"10","labels":{"target":"api"}}
live_bytes {"value":"20","labels":{"target":"mail"}}
pause_seconds {"buckets":{"0.001":"5","0.01":"8","+Inf":"5"}}
mark_seconds {"quantiles":{"0.5":"0.1"}}
E
echo "as seen: of two programs' histograms one mixture is left"
