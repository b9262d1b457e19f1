#!/bin/bash
# libcurl 7.88.1: a POST on a connection that was used before, which the server reads whole and then closes without an
# answer, is sent once more on a new connection, by libcurl itself: the program sees one request and one success, the
# server two. (RFC 9110, 9.2.2: a client should not repeat a POST by itself unless it knows that the first one was not
# applied.) On a new connection the same end is an error. So a receiver that counts must expect batches twice, also of
# senders that never retry.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15
for deb in *.deb; do dpkg -x "$deb" root; done
cat > server.py <<'PY'
import socket
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
read = 0
while True:
    connection, _ = listening.accept()
    stream = connection.makefile("rb")
    while line := stream.readline():
        headers = {}
        while (header := stream.readline().strip()):
            name, value = header.split(b":", 1)
            headers[name.lower()] = value
        body = stream.read(int(headers[b"content-length"])).decode()
        read += 1
        print(body, flush=True)
        if body == "second" and read == 2 or body == "alone" and read == 1:
            break       # read, and no answer
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    stream.close()
    connection.close()
PY
# What the server reads of POSTs with these bodies, in one run of curl, and curl's status
run() {
        rm -f read
        python3 server.py > read & local server=$! status=0 url options=()
        until [ -s read ]; do sleep 0.1; done
        url=http://127.0.0.1:$(head -n 1 read)/
        for body in "$@"; do options+=(--next --max-time 20 -sS -d "$body" "$url"); done
        LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/curl "${options[@]:1}" 2> errors || status=$?
        kill $server
        echo "$*: the server read: $(tail -n +2 read | xargs); curl's status $status"
}
run first second | tee seen
run alone | tee -a seen
diff - seen << 'END' || { echo "changed"; exit 1; }
first second: the server read: first second second; curl's status 0
alone: the server read: alone; curl's status 52
END
echo "as seen: one POST of the program, two of the server"
