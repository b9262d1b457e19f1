#!/bin/bash
# Alertmanager 0.25.0: a list of alerts of which one is invalid gets status 400, and the valid ones of the same list are
# taken all the same. A sender that keeps what was refused and sends it again, alert by alert or corrected, sends twice;
# one that counts the list as lost counts wrongly.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download prometheus-alertmanager=0.25.0-1+b4
dpkg -x ./*.deb root
root/usr/bin/prometheus-alertmanager --version 2>&1 | head -n 1
echo '{"route": {"receiver": "none"}, "receivers": [{"name": "none"}]}' > config.yml
port=$((20000 + $$ % 20000))
root/usr/bin/prometheus-alertmanager --config.file=config.yml --storage.path=data --cluster.listen-address= \
        --web.listen-address=127.0.0.1:$port 2> log &
trap 'kill $!; rm -rf "$PWD"' EXIT
api=http://127.0.0.1:$port/api/v2/alerts
curl -sS --retry 50 --retry-connrefused --retry-delay 1 -o /dev/null $api 2> retries
status=$(curl -sS -o reply -w '%{http_code}' -H 'Content-Type: application/json' $api \
        -d '[{"labels": {"alertname": "first"}}, {"labels": {"alertname": "second", "a-b": "c"}}, {"labels": {"alertname": "third"}}]')
echo "status $status: $(cat reply)"
taken=$(curl -sS $api | python3 -c 'import json, sys; print(*sorted(a["labels"]["alertname"] for a in json.load(sys.stdin)))')
echo "taken: $taken"
[ "$status" = 400 ] && [ "$taken" = "first third" ] || { echo "changed: expected status 400, and first and third taken"; exit 1; }
echo "as seen: status 400, and two of three are taken"
