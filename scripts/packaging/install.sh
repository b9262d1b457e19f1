#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs this folder: ./install.sh PREFIX, such as /usr/local, /opt/heapwatch or ~/.local. Nothing is started or enabled.
# Without it the programs run where they are: bin/heapwatch.
set -eu
[ $# -eq 1 ] || {
        echo "usage: ./install.sh PREFIX" >&2
        exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
case $prefix in *[\|\&\\\ ]*) echo "install.sh: $prefix: systemd and pkg-config need a path without spaces, |, & and \\" >&2; exit 2 ;; esac
(cd "$here" && tar cf - bin include lib share) | (cd "$prefix" && tar xof -)
# Paths that units and pkg-config need.
sed -i "s|/@PREFIX@|$prefix|g" "$prefix"/lib/systemd/*/heapwatch*.service "$prefix/lib/pkgconfig/heapwatch.pc"
"$prefix/bin/heapwatch" --version >/dev/null || {
        echo "install.sh: $prefix/bin/heapwatch does not run here" >&2
        exit 1
}
echo "heapwatch is in $prefix/bin; its systemd units are in $prefix/lib/systemd, and none is enabled"
