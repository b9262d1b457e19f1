#!/bin/bash
# @opentelemetry/sdk-metrics 2.12.1 (npm): an observable gauge has a callback that observes what there is now: one value
# for each type on the heap, each worker, each session. What is exported of one that is there no more? Expected: nothing,
# as the specification asks of callbacks that observe less than before, and as a scrape of Prometheus would show. But
# with cumulative temporality, which OTLP's exporter has by default, its last value is exported for as long as the
# process runs, and with the time of each new export, so that no receiver can tell: a leak that was mended stays in the
# picture, and the sum over types only rises. And with either temporality all that ever were count for the limit of
# 2,000 sets: of ten sessions at a time, each one that comes after 1,999 others is exported without its attributes, all
# of them in one point (otel.metric.overflow) that has the value of one, though there are never more than ten. A process
# that lives long ends with one number for all that it has.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/api@1.9.1
cat > gauge.mjs <<'J'
import {
        AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader
} from '@opentelemetry/sdk-metrics'

async function exporting(temporality, callback) {
        const exporter = new InMemoryMetricExporter(temporality)
        const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600000 })
        const provider = new MeterProvider({ readers: [reader] })
        provider.getMeter('heap').createObservableGauge('bytes').addCallback(callback)
        return async () => {
                exporter.reset()
                await reader.forceFlush()
                return exporter.getMetrics()[0].scopeMetrics[0].metrics[0].dataPoints
        }
}

for (const name of ['CUMULATIVE', 'DELTA']) {
        const temporality = AggregationTemporality[name]
        let bands = { Map: 100, Leak: 900 }
        const collect = await exporting(temporality, (result) => {
                for (const type in bands) result.observe(bands[type], { type })
        })
        await collect()
        bands = { Map: 101 }
        await new Promise((resolve) => setTimeout(resolve, 50))
        const points = await collect()
        const shown = points.map((p) => `${p.attributes.type} ${p.value}`)
        const times = new Set(points.map((p) => String(p.endTime)))
        console.log(`${name}: Map alone is observed; exported: ${shown.join(', ')}; times: ${times.size}`)

        let first = 0
        const sessions = await exporting(temporality, (result) => {
                for (let session = first; session < first + 10; session++) result.observe(session, { session })
        })
        let last
        for (; first < 2500; first += 10) last = await sessions()
        const named = last.filter((p) => p.attributes.session >= first - 10).length
        const rest = last.filter((p) => p.attributes['otel.metric.overflow']).length
        console.log(`${name}: 10 sessions; exported: ${last.length} points, ${named} of these sessions, ${rest} of the rest`)
}
J
node gauge.mjs | tee seen
diff - seen <<'E' || { echo "changed: expected that what is not observed is exported, if cumulative"; exit 1; }
CUMULATIVE: Map alone is observed; exported: Map 101, Leak 900; times: 1
CUMULATIVE: 10 sessions; exported: 2000 points, 0 of these sessions, 1 of the rest
DELTA: Map alone is observed; exported: Map 101; times: 1
DELTA: 10 sessions; exported: 1 points, 0 of these sessions, 1 of the rest
E
echo "as seen: what was observed once is exported for ever"
