#!/bin/bash
# SQLite 3.40.1: where two ordinary tables without an index are joined by equality, it makes an automatic index for the
# time of the query. Over virtual tables (FTS5, json_each, and those of programs that give their data to SQL this way) it
# never does, whatever the module says of its costs: it reads the inner one whole for each row of the outer one, so that
# a join of two times 10,000 rows visits 100 million. A common table expression changes nothing of that, until it is
# marked AS MATERIALIZED: then the same join is a search.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

apt-get -qq -o APT::Sandbox::User=root download sqlite3=3.40.1-2+deb12u2 libsqlite3-0=3.40.1-2+deb12u2 \
        libreadline8=8.2-1.3 libtinfo6=6.4-4
for package in *.deb; do
        dpkg -x "$package" root
done
LD_LIBRARY_PATH=$(dirname "$(find "$PWD/root" -name 'libsqlite3.so.0')"):$(dirname "$(find "$PWD/root" -name 'libreadline.so.8')")
export LD_LIBRARY_PATH
root/usr/bin/sqlite3 --version

plan() { # plan NAME QUERY: its plan, and how its inner side is read
        root/usr/bin/sqlite3 :memory: "CREATE TABLE p(x); CREATE TABLE q(x);
                CREATE VIRTUAL TABLE v USING fts5(x); CREATE VIRTUAL TABLE w USING fts5(x); EXPLAIN QUERY PLAN $2" > plan
        inner=$(tail -n 1 plan)
        echo "$1: ${inner#*--}"
}

plan "ordinary tables" 'SELECT count(*) FROM p JOIN q USING (x);'
[[ $inner == *"AUTOMATIC COVERING INDEX"* ]] || { echo "changed: expected an automatic index"; exit 1; }
plan "virtual tables" 'SELECT count(*) FROM v JOIN w USING (x);'
[[ $inner == *"SCAN w VIRTUAL TABLE"* ]] || { echo "changed: expected that the inner table is read whole"; exit 1; }
plan "in a table expression" 'WITH a AS (SELECT x FROM v), b AS (SELECT x FROM w) SELECT count(*) FROM a JOIN b USING (x);'
[[ $inner == *"SCAN w VIRTUAL TABLE"* ]] || { echo "changed: expected the same"; exit 1; }
plan "AS MATERIALIZED" 'WITH a AS MATERIALIZED (SELECT x FROM v), b AS MATERIALIZED (SELECT x FROM w)
        SELECT count(*) FROM a JOIN b USING (x);'
[[ $inner == *"AUTOMATIC COVERING INDEX"* ]] || { echo "changed: expected an automatic index"; exit 1; }
echo "as seen: virtual tables are joined by reading the inner one for each row of the outer one, unless it is materialised"
