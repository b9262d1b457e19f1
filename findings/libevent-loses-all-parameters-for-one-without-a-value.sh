#!/bin/bash
# libevent 2.1.12: a server takes the parameters of a query with evhttp_parse_query_str(). What is there of
# ?target=api&live, where one is a flag without a value? Expected: target, and live with an empty value, as in other
# languages' libraries, or at least target. But it returns -1 and an empty list, wherever the flag is. A server that takes
# -1 for "no parameters" answers as if none had been given: for all targets, in the default format. A trailing "&" and
# "live=" are taken. event2/http.h says that -1 is a failure, not of what.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# In a folder of its own: gcc, python3 and apt-get are the machine's.
apt-get -qq -o APT::Sandbox::User=root download libevent-dev=2.1.12-stable-8+deb12u1 libevent-2.1-7=2.1.12-stable-8+deb12u1
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib/x86_64-linux-gnu
cat > parse.c <<'C'
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <sys/queue.h>

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                struct evkeyvalq all;
                int status = evhttp_parse_query_str(argv[i], &all);

                printf("%s: %d", argv[i], status);
                for (struct evkeyval *one = all.tqh_first; one; one = one->next.tqe_next)
                        printf(" [%s=%s]", one->key, one->value);
                puts("");
                evhttp_clear_headers(&all);
        }
        return 0;
}
C
gcc -I root/usr/include -I root/usr/include/x86_64-linux-gnu -o parse parse.c -L "$lib" -l:libevent-2.1.so.7
set -- 'target=api&live=' 'target=api&' 'target=api&live' 'live&target=api' 'live' '=1'
LD_LIBRARY_PATH=$lib ./parse "$@" | tee seen
echo "the third by Python: $(python3 -c 'import sys, urllib.parse as u; print(u.parse_qsl(sys.argv[1], True))' "$3")"
diff - seen <<'E' || { echo "changed: expected that a flag fails, and nothing is left of the others"; exit 1; }
target=api&live=: 0 [target=api] [live=]
target=api&: 0 [target=api]
target=api&live: -1
live&target=api: -1
live: -1
=1: -1
E
echo "as seen: one parameter without a value, and there are none"
