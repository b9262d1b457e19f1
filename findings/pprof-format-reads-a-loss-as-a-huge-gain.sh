#!/bin/bash
# pprof-format 2.3.2 (npm): the difference of two heap profiles, as `go tool pprof -proto -diff_base` writes it, has values
# below 0 for what has become less. What does Profile.decode give of them? Expected: the number that was written; values
# are int64 (profile.proto), and the library takes -5 to encode. But it reads them as if they had no sign: 5 bytes less are
# 18,446,744,073,709,551,611 bytes more, a BigInt between Numbers, also of what it encoded itself; and the same of labels
# (num). protoc, of the same bytes, says -5, and so do Go's tools. Written again, they are the same bytes, so that what
# reads a profile to change names or to merge does no harm, and only who computes with it is wrong: a sum over such
# Numbers and BigInts is an error at best; by Number() the whole profile is one function that takes 16 EiB.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit pprof-format@2.3.2
packages="protobuf-compiler=3.21.12-3+deb12u1 libprotoc32=3.21.12-3+deb12u1 libprotobuf32=3.21.12-3+deb12u1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
cat > values.proto <<'P'
syntax = "proto3";
message Profile { repeated Sample sample = 2; }
message Sample { repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 num = 3; }
P
cat > read.mjs <<'J'
import { writeFileSync } from 'fs'
import { Label, Profile, Sample, StringTable, ValueType } from 'pprof-format'

const stringTable = new StringTable()
const sampleType = [new ValueType({ type: stringTable.dedup('inuse_space'), unit: stringTable.dedup('bytes') })]
const label = [new Label({ key: stringTable.dedup('change'), num: -7 })]
const sample = [new Sample({ value: [1000] }), new Sample({ value: [-5], label })]
const bytes = new Profile({ stringTable, sampleType, sample }).encode()
writeFileSync('difference.pb', bytes)
const read = Profile.decode(bytes)
for (const { value, label } of read.sample)
        console.log(`pprof-format: ${typeof value[0]} ${value[0]}, ${label.map((l) => l.num).join() || 'no label'}`)
console.log(`written again: ${Buffer.compare(Buffer.from(read.encode()), Buffer.from(bytes)) ? 'other' : 'the same'} bytes`)
J
{
        node read.mjs
        LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/protoc --decode=Profile values.proto < difference.pb |
            sed -n 's/^ *\(value\|num\): /protoc: /p'
} | tee seen
diff - seen <<'E' || { echo "changed: expected values without a sign of pprof-format, and with one of protoc"; exit 1; }
pprof-format: number 1000, no label
pprof-format: bigint 18446744073709551611, 18446744073709551609
written again: the same bytes
protoc: 1000
protoc: -5
protoc: -7
E
echo "as seen: a value below 0 is read as 2^64 more"
