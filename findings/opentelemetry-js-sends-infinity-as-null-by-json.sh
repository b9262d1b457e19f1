#!/bin/bash
# @opentelemetry/otlp-transformer 0.223.1 (npm), which makes the requests of OTLP's exporters: a gauge may be infinite or
# NaN: a limit that is not set, a time to it that is not foreseen, a ratio of nothing. What is sent of it? Expected: that
# number, by JSON as by protobuf, for protobuf's rules of JSON, which OTLP keeps to, have "Infinity" and "NaN" for it. By
# protobuf it is so. By JSON, which the exporter of the plain name (exporter-metrics-otlp-http) sends, it is null, as
# JSON.stringify makes it; and null is, by the same rules, a field that is not there: a data point without a value. Read
# by protobuf's own library and asked for as_double, it is 0. So a limit that does not exist has been reached, and the
# same program says so or not, by the protocol that its exporter was set to.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit @opentelemetry/otlp-transformer@0.223.1 @opentelemetry/sdk-metrics@2.12.1 \
    @opentelemetry/api@1.9.1
version=3.21.12-3+deb12u1
apt-get -qq -o APT::Sandbox::User=root download "protobuf-compiler=$version" "libprotoc32=$version" \
    "libprotobuf32=$version" "python3-protobuf=$version"
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH=$PWD/root/usr/lib/x86_64-linux-gnu PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages

cat > send.mjs <<'J'
import { writeFileSync } from 'fs'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import {
        AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader
} from '@opentelemetry/sdk-metrics'

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600000 })
const meter = new MeterProvider({ readers: [reader] }).getMeter('heap')
for (const [name, value] of [['used', 1.5], ['limit', Infinity], ['ratio', NaN]]) meter.createGauge(name).record(value)
await reader.forceFlush()
const metrics = exporter.getMetrics()[0]
writeFileSync('request.pb', ProtobufMetricsSerializer.serializeRequest(metrics))
writeFileSync('request.json', JsonMetricsSerializer.serializeRequest(metrics))
process.exit(0)
J
cat > otlp.proto <<'P'
syntax = "proto3";
message Request { repeated Resource resource_metrics = 1; }
message Resource { repeated Scope scope_metrics = 2; }
message Scope { repeated Metric metrics = 2; }
message Metric { string name = 1; Gauge gauge = 5; }
message Gauge { repeated Point data_points = 1; }
message Point { oneof value { double as_double = 4; sfixed64 as_int = 6; } }
P
cat > read.py <<'P'
import otlp_pb2
from google.protobuf import json_format

by_protobuf = otlp_pb2.Request.FromString(open("request.pb", "rb").read())
by_json = json_format.Parse(open("request.json").read(), otlp_pb2.Request(), ignore_unknown_fields=True)
for how, request in ("protobuf", by_protobuf), ("JSON", by_json):
    for metric in request.resource_metrics[0].scope_metrics[0].metrics:
        point = metric.gauge.data_points[0]
        print(f"{how}, {metric.name}: {point.as_double}, {'a' if point.WhichOneof('value') else 'no'} value")
right = json_format.MessageToJson(by_protobuf, indent=None)
print("protobuf's own JSON:", '"Infinity"' in right and '"NaN"' in right and "both in words")
P
node send.mjs
root/usr/bin/protoc --python_out=. otlp.proto
PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python /usr/bin/python3 read.py | tee seen
diff - seen <<'E' || { echo "changed: expected points without a value of JSON"; exit 1; }
protobuf, used: 1.5, a value
protobuf, limit: inf, a value
protobuf, ratio: nan, a value
JSON, used: 1.5, a value
JSON, limit: 0.0, no value
JSON, ratio: 0.0, no value
protobuf's own JSON: both in words
E
echo "as seen: by JSON there is no infinity"
