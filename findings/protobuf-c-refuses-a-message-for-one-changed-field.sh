#!/bin/bash
# protobuf-c 1.4.1: one field whose wire type has changed (here a number that became a text) makes the whole message
# unreadable: unpack returns NULL. protoc, of the same schema, takes such a field as unknown and reads the rest. So a
# field of a schema that C programs read can never change its type, not even one that they do not use.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download libprotobuf-c-dev=1.4.1-1+b1 libprotobuf-c1=1.4.1-1+b1 \
        protobuf-c-compiler=1.4.1-1+b1 libprotobuf32=3.21.12-3+deb12u1 libprotoc32=3.21.12-3+deb12u1 \
        protobuf-compiler=3.21.12-3+deb12u1
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$lib PATH=$PWD/root/usr/bin:$PATH
mkdir old new
for one in "old uint32" "new string"; do
        read -r folder type <<< "$one"
        printf 'syntax = "proto3";\nmessage Sample { uint32 live = 1; %s note = 2; }\n' "$type" > $folder/sample.proto
done
protoc --c_out=. -Iold old/sample.proto
cat > read.c <<'C'
#include <stdio.h>
#include "sample.pb-c.h"
int main(void)
{
        uint8_t bytes[100];
        size_t n = fread(bytes, 1, sizeof(bytes), stdin);
        Sample *s = sample__unpack(NULL, n, bytes);
        printf(s ? "live %u\n" : "NULL\n", s ? s->live : 0);
        return 0;
}
C
gcc -Iroot/usr/include -I. read.c sample.pb-c.c -L"$lib" -lprotobuf-c -o read
echo 'live: 42, note: "of now"' | protoc --encode=Sample -Inew new/sample.proto > message
by_c=$(./read < message)
by_protoc=$(protoc --decode=Sample -Iold old/sample.proto < message | tr '\n' ' ')
echo "protobuf-c: $by_c; protoc: $by_protoc"
[ "$by_c" = NULL ] && case $by_protoc in "live: 42 "*) true ;; *) false ;; esac ||
        { echo "changed: expected NULL of protobuf-c, and live of protoc"; exit 1; }
echo "as seen: one field of another type, and protobuf-c reads none"
