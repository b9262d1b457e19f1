# SPDX-License-Identifier: BSD-3-Clause
"""Receivers for `heapwatch export` that decode what comes, and fail as a test wants.

All give {(name, labels): value} of one moment, labels as a frozenset of pairs, as Prometheus' parser has them. The value
ENDED is the marker of a series that has ended.
"""
import http.server
import math
import pathlib
import socketserver
import struct
import subprocess
import sys
import threading

from google.protobuf import json_format

from harness import make_once

SCHEMAS = pathlib.Path(__file__).parent / "schemas"


def schemas():
    files = sorted(SCHEMAS.glob("*.proto"))
    out = make_once("schemas", lambda out: subprocess.run(["protoc", f"-I{SCHEMAS}", f"--python_out={out}", *files], check=True),
                    b"".join(f.read_bytes() for f in files))
    sys.path.insert(0, str(out))
    import opentelemetry_pb2
    import prometheus_pb2
    return prometheus_pb2, opentelemetry_pb2


prom, otel = schemas()


ENDED = "ended"


def or_ended(value):
    """A value of a remote write: one NaN is the marker, no other is sent."""
    if math.isnan(value):
        assert struct.pack(">d", value).hex() == "7ff0000000000002"
        return ENDED
    return value


def unsnap(block):
    """Snappy's block format: a length, then literals and copies."""
    at, size, shift = 0, 0, 0
    while True:
        byte = block[at]
        at += 1
        size |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            break
    out = bytearray()
    while at < len(block):
        tag = block[at]
        at += 1
        kind, n = tag & 3, tag >> 2
        if kind == 0:
            if n >= 60:
                extra = n - 59
                n = int.from_bytes(block[at:at + extra], "little")
                at += extra
            out += block[at:at + n + 1]
            at += n + 1
            continue
        if kind == 1:
            n, offset = (n & 7) + 4, (tag >> 5) << 8 | block[at]
            at += 1
        else:
            width = 2 if kind == 2 else 4
            n, offset = n + 1, int.from_bytes(block[at:at + width], "little")
            at += width
        assert 0 < offset <= len(out)
        for _ in range(n):
            out.append(out[-offset])
    assert len(out) == size
    return bytes(out)


RW2 = "application/x-protobuf;proto=io.prometheus.write.v2.Request"


def of_remote_write(headers, body):
    """1.0, as a receiver decodes it that knows nothing else: whatever the headers say."""
    assert headers["Content-Encoding"] == "snappy"
    if headers["Content-Type"] != RW2:
        assert headers["Content-Type"] == "application/x-protobuf"
        assert headers["X-Prometheus-Remote-Write-Version"] == "0.1.0"
    for series in prom.WriteRequest.FromString(unsnap(body)).timeseries:
        names = [label.name for label in series.labels]
        assert names == sorted(names) and len(set(names)) == len(names) and all(label.value for label in series.labels)
        labels = {label.name: label.value for label in series.labels}
        assert len(series.samples) == 1
        yield labels.pop("__name__"), labels, or_ended(series.samples[0].value), series.samples[0].timestamp * 10**6


def of_remote_write_2(headers, body):
    """Either version. A native histogram is a sample whose value is a dict."""
    if headers["Content-Type"] != RW2:
        yield from of_remote_write(headers, body)
        return
    assert headers["Content-Encoding"] == "snappy" and headers["X-Prometheus-Remote-Write-Version"] == "2.0.0"
    request = prom.Request.FromString(unsnap(body))
    symbols = request.symbols
    assert symbols[0] == "" and len(set(symbols)) == len(symbols)
    for series in request.timeseries:
        texts = [symbols[ref] for ref in series.labels_refs]
        names, labels = texts[::2], dict(zip(texts[::2], texts[1::2]))
        assert len(texts) % 2 == 0 and names == sorted(names) and len(labels) == len(names) and all(labels.values())
        name, kind = labels.pop("__name__"), series.metadata.type
        assert symbols[series.metadata.help_ref] and kind != prom.Metadata.UNSPECIFIED
        assert len(series.samples) + len(series.histograms) == 1
        for s in series.samples:
            assert series.created_timestamp < s.timestamp
            yield name, labels, or_ended(s.value), s.timestamp * 10**6
        for h in series.histograms:
            assert kind == prom.Metadata.HISTOGRAM
            yield name, labels, ENDED if or_ended(h.sum) == ENDED else native(h), h.timestamp * 10**6


def native(h):
    """count, sum, zero and the buckets {upper bound: count} of a native histogram, as a receiver must read its spans."""
    index, n, deltas, buckets = 0, 0, iter(h.positive_deltas), {}
    for span in h.positive_spans:
        index += span.offset
        for _ in range(span.length):
            n += next(deltas)
            assert n >= 0
            buckets[2.0 ** (index / 2 ** h.schema)] = n
            index += 1
    assert next(deltas, None) is None and h.WhichOneof("count") == "count_int"
    assert h.zero_count_int + sum(buckets.values()) == h.count_int
    return {"count": h.count_int, "sum": h.sum, "zero": h.zero_count_int, "buckets": buckets}


def g(number):
    return f"{number:.15g}"


def otlp_points(metric, labels):
    """The parts that Prometheus makes of a point."""
    kind = metric.WhichOneof("data")
    data = getattr(metric, kind)
    if kind in ("sum", "histogram", "exponential_histogram"):
        assert data.aggregation_temporality == otel.AGGREGATION_TEMPORALITY_CUMULATIVE
    if kind == "sum":
        assert data.is_monotonic
    for p in data.data_points:
        own = {**labels, **{a.key: a.value.string_value for a in p.attributes}}
        time = p.time_unix_nano
        if kind in ("sum", "histogram", "exponential_histogram", "summary"):
            assert 0 < p.start_time_unix_nano < time
        ended = p.flags & otel.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK != 0
        if kind in ("gauge", "sum"):
            assert p.HasField("as_double") != ended
            yield metric.name, own, ENDED if ended else p.as_double, time
            continue
        assert not ended or p.count == p.sum == 0
        yield metric.name + "_sum", own, ENDED if ended else p.sum, time
        yield metric.name + "_count", own, ENDED if ended else float(p.count), time
        if ended:
            if kind == "exponential_histogram":
                yield metric.name, own, ENDED, time
            for q in p.quantile_values if kind == "summary" else ():
                yield metric.name, {**own, "quantile": g(q.quantile)}, ENDED, time
            for bound in [*p.explicit_bounds, math.inf] if kind == "histogram" else ():
                yield metric.name + "_bucket", {**own, "le": "+Inf" if bound == math.inf else g(bound)}, ENDED, time
            continue
        if kind == "exponential_histogram":
            buckets = {2.0 ** ((p.positive.offset + i + 1) / 2 ** p.scale): n
                       for i, n in enumerate(p.positive.bucket_counts) if n}
            yield metric.name, own, {"count": p.count, "sum": p.sum, "zero": p.zero_count, "buckets": buckets}, time
            continue
        if kind == "summary":
            for q in p.quantile_values:
                yield metric.name, {**own, "quantile": g(q.quantile)}, q.value, time
            continue
        assert len(p.bucket_counts) == len(p.explicit_bounds) + 1 and sum(p.bucket_counts) == p.count
        so_far = 0
        for bound, n in zip([*p.explicit_bounds, math.inf], p.bucket_counts):
            so_far += n
            yield metric.name + "_bucket", {**own, "le": "+Inf" if bound == math.inf else g(bound)}, float(so_far), time


def of_otlp(headers, body):
    request = otel.ExportMetricsServiceRequest()
    if headers["Content-Type"] == "application/json":
        json_format.Parse(body.decode(), request)
    else:
        assert headers["Content-Type"] == "application/x-protobuf"
        request.ParseFromString(body)
    for r in request.resource_metrics:
        resource = {a.key: a.value.string_value for a in r.resource.attributes}
        for metric in r.scope_metrics[0].metrics:
            for name, labels, value, time in otlp_points(metric, {"host": resource["host.name"]}):
                assert labels.get("target", "heapwatch") == resource["service.name"]
                yield name, labels, value, time


class Receiver:
    """What has come, by its time: {time: {(name, labels): value}}."""

    def __init__(self, decode):
        self.decode, self.moments, self.samples, self.lock = decode, {}, 0, threading.Lock()

    def take(self, headers, body):
        rows = list(self.decode(headers, body))
        with self.lock:
            for name, labels, value, time in rows:
                self.moments.setdefault(time, {})[(name, frozenset(labels.items()))] = value
            self.samples += len(rows)

    def check_ends(self):
        """Each series that a moment has and the next one has not ends there, and no other; in the last moment all have."""
        with self.lock:
            before, ends = set(), 0
            for time in sorted(self.moments):
                rows = self.moments[time]
                present, ended = ({k for k, v in rows.items() if (v == ENDED) == e} for e in (False, True))
                assert ended == before - present, (time, len(before), len(present), ended ^ (before - present))
                before, ends = present, ends + len(ended)
            assert not before and ends, (len(before), ends, self.types[-1:], [(t, len(r), list(r.values()).count(ENDED)) for t, r in sorted(self.moments.items())][-3:])
            return ends

    def of_target(self, target):
        """The newest values of a target's series that have not ended; `host` must be there and is left out."""
        found = {}
        with self.lock:
            for time in sorted(self.moments):
                for (name, labels), value in self.moments[time].items():
                    if ("target", target) in labels:
                        assert "host" in dict(labels)
                        found[name, frozenset(p for p in labels if p[0] != "host")] = value
        return {k: v for k, v in found.items() if v != ENDED}


class HTTP(Receiver):
    """`mode`: "ok", "page" (200, HTML), "busy" (500), "later" (429, Retry-After), "wrong" (400), "garbage", "half", "silent".
    `protocol`, of remote writes: "1.0" takes everything for 1.0, "415" says so of 2.0, "2.0" knows both,
    "classic" both but for native histograms (500), "partial" refuses ten samples of each batch of 2.0; of OTLP: "partial"
    says that it left out seven points of each batch."""

    def __init__(self, decode, path="/write", port=0, protocol="1.0"):
        super().__init__(decode)
        self.protocol, self.types = protocol, []
        self.mode, self.asked, self.headers, self.closing = "ok", {}, {}, threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.headers, mode = dict(self.headers), outer.mode
                answer = {"ok": (204, None), "page": (200, None), "busy": (500, None), "later": (429, None), "wrong": (400, None)}.get(mode)
                if mode == "ok":
                    assert self.path == path, self.path
                    answer = outer.write(self.headers, body)
                outer.asked[mode] = outer.asked.get(mode, 0) + 1
                if mode == "silent":
                    outer.closing.wait(60)
                elif mode in ("garbage", "half"):
                    self.wfile.write(b"\x16\x03 no HTTP\r\n\r\n" + bytes(range(256)) if mode == "garbage"
                                     else b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                    self.close_connection = True
                else:
                    text = b"<!DOCTYPE html><title>Down</title>" if mode == "page" else outer.words(self.headers)
                    self.send_response(answer[0])
                    self.send_header("Content-Length", str(len(text)))
                    if answer[1] is not None:
                        self.send_header("X-Prometheus-Remote-Write-Samples-Written", str(answer[1]))
                    if mode == "later":
                        self.send_header("Retry-After", "2")
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads, allow_reuse_address = True, True

            def handle_error(self, *_):     # a client that goes away is normal
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}{path}"

    def words(self, headers):
        """The body of an answer."""
        if self.mode != "ok" or self.protocol != "partial" or self.decode is not of_otlp:
            return b""
        left_out = otel.ExportMetricsServiceResponse()
        left_out.partial_success.rejected_data_points, left_out.partial_success.error_message = 7, "too\nold \x1b"
        return (json_format.MessageToJson(left_out).encode() if headers["Content-Type"] == "application/json"
                else left_out.SerializeToString())

    def write(self, headers, body):
        """Takes a body; the status, and the number of samples written, of 2.0."""
        kind = headers["Content-Type"]
        self.types.append(kind)
        if kind != RW2 or self.protocol == "1.0":
            self.take(headers, body)
            return 204 if self.decode is not of_otlp else 200, None
        if self.protocol == "415":
            return 415, None
        rows = list(self.decode(headers, body))
        if self.protocol == "classic" and any(isinstance(row[2], dict) for row in rows):
            return 500, 0
        values = sum(not isinstance(row[2], dict) for row in rows)
        self.take(headers, body)
        return (400, values - 10) if self.protocol == "partial" else (204, values)

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
