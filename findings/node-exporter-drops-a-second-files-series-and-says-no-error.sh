#!/bin/bash
# prometheus-node-exporter 1.5.0: of a series that two textfiles have, one value is served and the other is dropped: with
# status 200 and node_textfile_scrape_error 0, which is what one would watch. Only the log says it, at each scrape. Two
# programs that each write a correct file, with a metric of the same name and no label that tells them apart, lose one's.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download prometheus-node-exporter=1.5.0-1+b6
dpkg -x ./*.deb root
mkdir files
for value in 1 2; do
        printf '# HELP jobs_done Jobs.\n# TYPE jobs_done counter\njobs_done{queue="a"} %s\njobs_done{queue="%s"} 7\n' \
                $value only-$value > files/$value.prom
done
port=$((20000 + $$ % 20000))
root/usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.textfile --web.listen-address=127.0.0.1:$port \
        --collector.textfile.directory=files 2> log &
trap 'kill $!; rm -rf "$PWD"' EXIT
status=$(curl -sS --retry 50 --retry-connrefused --retry-delay 1 -o page -w '%{http_code}' http://127.0.0.1:$port/metrics 2> retries)
echo "status $status"
grep -E '^(jobs_done|node_textfile_scrape_error)' page | tee seen
grep -c 'was collected before with the same name and label values' log
[ "$status" = 200 ] && [ "$(grep -c 'queue="a"' seen)" = 1 ] && [ "$(grep -c only- seen)" = 2 ] &&
        grep -q '^node_textfile_scrape_error 0$' seen || { echo "changed"; exit 1; }
echo "as seen: one of two values is served, and no error"
