#!/bin/bash
# prometheus-process-exporter 0.7.10: of a process whose main() has ended by pthread_exit(3), while other threads run on,
# it shows 0 bytes of resident memory and 0 open files, with 1 process and 2 threads: the kernel shows what the threads share
# below those that are left alone (/proc/PID/task/TID, or /proc/TID), and /proc/PID has none of it any more. The 200 MiB that
# it holds are nobody's, and an alert on memory that rises stays silent. `ps` shows a zombie with an RSS of 0.
set -eu
cd "$(mktemp -d)"
trap 'kill $(jobs -p) 2> /dev/null; rm -rf "$PWD"' EXIT

# In a folder of its own: gcc, curl and apt-get are the machine's.
apt-get -qq -o APT::Sandbox::User=root download prometheus-process-exporter=0.7.10-3+b5
dpkg -x prometheus-process-exporter*.deb root

cat > holds.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *hold(void *unused)
{
        char *bytes = malloc(200 << 20);

        memset(bytes, 1, 200 << 20);
        puts("it holds 200 MiB");
        fflush(stdout);
        for (;;)
                pause();
        return unused;
}

int main(int argc, char **argv)
{
        pthread_t other;

        (void)argv;
        pthread_create(&other, NULL, hold, NULL);
        if (argc > 1)
                pthread_exit(NULL);
        return pthread_join(other, NULL);
}
C
gcc -o waits holds.c -pthread
cp waits leaves
cat > names.yml <<'Y'
process_names:
  - { name: "{{.Comm}}", comm: [waits, leaves] }
Y
./waits > waits.said &
./leaves now > leaves.said &
leaves=$!
until grep -q MiB waits.said && grep -q MiB leaves.said && grep -q '^State:.*zombie' "/proc/$leaves/status"; do sleep 0.1; done
port=$((20000 + RANDOM % 10000))
root/usr/bin/prometheus-process-exporter -config.path names.yml -web.listen-address "127.0.0.1:$port" 2> log &
until curl -sf "http://127.0.0.1:$port/metrics" > metrics; do sleep 0.1; done
grep -E '^namedprocess_namegroup_(memory_bytes.*"resident"|num_procs|num_threads|open_filedesc)' metrics
echo "its other thread: $(grep VmRSS "$(find "/proc/$leaves/task" -mindepth 1 -maxdepth 1 ! -name "$leaves")/status")"
value() { sed -n "s/^namedprocess_namegroup_memory_bytes{groupname=\"$1\",memtype=\"resident\"} //p" metrics; }
awk -v with="$(value waits)" -v without="$(value leaves)" 'BEGIN { exit !(with > 200e6 && without == 0) }' ||
        { echo "changed: expected more than 200e6 bytes, and 0"; exit 1; }
echo "as seen: memory is only shown while the first thread lives"
