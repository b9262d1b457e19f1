#!/bin/bash
# fflate 0.8.3 (npm): a gzip file may have several members one after the other, as gzip(1) makes with >>, and what
# compresses a log in pieces. Its length, in the last four bytes, is that of the last member. What does gunzipSync
# give of such a file? Expected: all, as gzip -d, zcat and Node's own zlib, or an error. But it makes room for the
# last member's length and fills that from the first one: of a member of 100,000 lines and one of three it returns the
# first three lines of the first, the other way round the first member alone, both without an error. decompressSync is
# the same; the class Gunzip reads all. So a page that shows a log packed in pieces shows a few seconds of it, with a
# good checksum in the file and no word in the console.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit fflate@0.8.3
cat > lines.mjs <<'J'
import { readFileSync } from 'fs'
import { gunzipSync as nodeGunzip } from 'zlib'
import { decompressSync, gunzipSync, Gunzip } from 'fflate'

function stream(file) {
        const parts = []
        new Gunzip((part) => parts.push(part)).push(file, true)
        return Buffer.concat(parts)
}

function lines(bytes) {
        const all = Buffer.from(bytes).toString().trimEnd().split('\n')
        return `${all.length} lines, to ${all.at(-1)}`
}

for (const name of process.argv.slice(2))
        for (const [how, read] of Object.entries({ zlib: nodeGunzip, Gunzip: stream, gunzipSync, decompressSync }))
                console.log(`${name}, ${how}: ${lines(read(readFileSync(name)))}`)
J
seq -f 'early %06.0f' 100000 | gzip > early.gz
seq -f 'later %06.0f' 3 | gzip > later.gz
cat early.gz later.gz > long-short.gz
cat later.gz early.gz > short-long.gz
gzip -t long-short.gz short-long.gz
node lines.mjs long-short.gz short-long.gz | tee seen
diff - seen <<'E' || { echo "changed: expected all lines, and three of gunzipSync and decompressSync"; exit 1; }
long-short.gz, zlib: 100003 lines, to later 000003
long-short.gz, Gunzip: 100003 lines, to later 000003
long-short.gz, gunzipSync: 3 lines, to early 000003
long-short.gz, decompressSync: 3 lines, to early 000003
short-long.gz, zlib: 100003 lines, to early 100000
short-long.gz, Gunzip: 100003 lines, to early 100000
short-long.gz, gunzipSync: 3 lines, to later 000003
short-long.gz, decompressSync: 3 lines, to later 000003
E
echo "as seen: of several members gunzipSync gives a part of the first"
