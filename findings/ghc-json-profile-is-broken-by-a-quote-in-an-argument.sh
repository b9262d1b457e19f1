#!/bin/bash
# GHC 9.0.2, +RTS -pj: the profile is JSON only as long as no argument of the program has a quotation mark. Backslashes in
# arguments are escaped, quotation marks are not, so a service that takes its settings as JSON on the command line writes a
# profile that JSON readers refuse.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 ghc-prof=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Sum.hs <<'H'
module Main (main) where
main :: IO ()
main = print (sum (map (`mod` 7) [1 .. 3000000 :: Int]))
H
compile -prof -fprof-auto -rtsopts Sum.hs
judge() {
        ./Sum "$1" +RTS -pj > /dev/null
        grep '"arguments"' Sum.prof
        python3 -c 'import json; json.load(open("Sum.prof"))' 2> error && echo "JSON" || { tail -n 1 error; echo "no JSON"; }
}
plain=$(judge 'c:\new')
settings=$(judge '{"port": 80}')
printf '%s\n' "$plain" "$settings"
[ "${plain##*$'\n'}" = JSON ] && grep -qF '"c:\\new"' <<< "$plain" && [ "${settings##*$'\n'}" = "no JSON" ] ||
        { echo "changed: expected JSON with a backslash, and none with quotation marks"; exit 1; }
echo "as seen: backslashes are escaped, quotation marks are not"
