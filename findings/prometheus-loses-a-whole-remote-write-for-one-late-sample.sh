#!/bin/bash
# Prometheus 2.42.0 as a receiver of remote writes: one of three series has a sample that is older than its newest.
# What is stored? Expected: the other two, as of a scrape with timestamps, of which just the late one is dropped. But
# the whole request is undone, with status 400 and "out of order sample", and no word of which; to senders that status
# is final (the specification has them not retry), so that all else that was in the batch is lost. The same for a
# sample with another value than the one that is there already, and for one that is too old for the head block, as
# after an outage of hours. So one series that two senders have, or one target whose clock was set back, makes holes
# in everything that is sent with it.
set -eu
cd "$(mktemp -d)"
trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$PWD"' EXIT

# In a folder of its own: curl and apt-get are the machine's.
apt-get -qq -o APT::Sandbox::User=root download prometheus=2.42.0+ds-5+deb12u1
dpkg -x prometheus*.deb root
port=$((20000 + RANDOM % 10000))
echo 'global: {}' > prometheus.yml
root/usr/bin/prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$port" \
    --web.enable-remote-write-receiver 2> log &
until curl -sf "http://127.0.0.1:$port/-/ready" > ready; do sleep 0.1; done

cat > send.py <<'P'
import json, struct, sys, time, urllib.error, urllib.request
url = "http://127.0.0.1:" + sys.argv[1] + "/api/v1/"

def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content

def send(*samples):
    """Series, value, milliseconds of each; in Snappy's format, without compression."""
    body = b""
    for name, value, ms in samples:
        label = part(1, b"__name__") + part(2, name.encode())
        body += part(1, part(1, label) + part(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(ms)))
    pieces = [body[i:i + 60] for i in range(0, len(body), 60)]
    snappy = varint(len(body)) + b"".join(bytes([(len(p) - 1) << 2]) + p for p in pieces)
    try:
        return urllib.request.urlopen(urllib.request.Request(url + "write", snappy)).status
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode().strip()}"

now = int(time.time() * 1000) - 60000
old = now - 4 * 3600000
for what, ms in ("in order", now), ("one late", now - 1000), ("one twice", now + 1000), ("one of 4 h ago", old):
    now += 1000
    series = ("a", "b", "c") if what != "one of 4 h ago" else ("a", "new", "c")
    status = send((series[0], now, now), (series[1], now, now if what == "in order" else ms), (series[2], now, now))
    found = json.load(urllib.request.urlopen(url + "query?query={__name__=~%22a|c%22}"))["data"]["result"]
    print(f"{what}: {status}; stored of the others: {[int(r['value'][1]) for r in found].count(now)}")
P
python3 send.py $port | tee seen
diff - seen <<'E' || { echo "changed: expected that one bad sample costs the others"; exit 1; }
in order: 204; stored of the others: 2
one late: 400 out of order sample; stored of the others: 0
one twice: 400 duplicate sample for timestamp; stored of the others: 0
one of 4 h ago: 400 out of bounds; stored of the others: 0
E
echo "as seen: a request is stored as a whole, or not at all"
