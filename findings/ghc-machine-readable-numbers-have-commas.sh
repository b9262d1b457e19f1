#!/bin/bash
# GHC 9.0.2: +RTS -t --machine-readable is for programs to read; is it the same on each machine? Expected: yes, as .hp files
# are. But its numbers have the decimal separator of the locale if the program sets one, as GTK, readline and ncurses have
# it do: setlocale(LC_ALL, "") with LANG=de_DE.UTF-8, and mut_cpu_seconds is "0,378190". A reader that takes digits as far
# as they go, as awk does, has 0 seconds of all; `read` of Haskell fails; and the profile of -pj, whose total_time is
# written so, is no JSON. The same holds for -s and .prof. Only the heap profile has points: rts/ProfHeap.c writes in a
# locale of its own (init_prof_locale()), rts/Stats.c, rts/ProfilerReport.c and rts/ProfilerReportJson.c in the program's.
# So files of a developer's machine are read well, and those of the service are not.
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

# a German locale in this folder: localedef is the machine's
apt-get -qq -o APT::Sandbox::User=root download locales=2.36-9+deb12u14
dpkg -x locales_*.deb locales
mkdir german
I18NPATH=$PWD/locales/usr/share/i18n localedef -i de_DE -f UTF-8 german/de_DE.UTF-8
export LOCPATH=$PWD/german

cat > Sets.hs <<'H'
module Main (main) where
import qualified Data.Map.Strict as M
import Foreign.C
foreign import ccall unsafe "setlocale" c_setlocale :: CInt -> CString -> IO CString
main :: IO ()
main = do
  _ <- withCString "" (c_setlocale 6) -- LC_ALL
  print (M.size (M.fromList [(i * 7919 `mod` 100003, i) | i <- [1 .. 300000 :: Int]]))
H
compile -prof -rtsopts -package containers Sets.hs
for LANG in C de_DE.UTF-8; do
        export LANG
        ./Sets +RTS -t --machine-readable -hT -i0 2> numbers > out
        ./Sets +RTS -pj > out
        mutator=$(sed -n 's/.*"mut_cpu_seconds", "\(.*\)").*/\1/p' numbers)
        census=$(sed -n 's/^BEGIN_SAMPLE //p' Sets.hp | tail -n 1)
        json=$(python3 -c 'import json; json.load(open("Sets.prof")); print("JSON")' 2> error || echo "no JSON")
        echo "$LANG: mutator $mutator, of which awk reads $(LC_ALL=C awk -v x="$mutator" 'BEGIN { print x + 0 }')," \
                "last census $census, the profile is $json: $(grep total_time Sets.prof)"
done | tee said
grep -Eq '^C: mutator 0\.[0-9]+, of which awk reads 0\.[0-9]+, last census [0-9]+\.[0-9]+, the profile is JSON' said &&
        grep -Eq '^de_.* mutator 0,[0-9]+, of which awk reads 0, last census [0-9]+\.[0-9]+, the profile is no JSON' said ||
        { echo "changed: expected a comma in the second line, but in the census"; exit 1; }
echo "as seen: machine-readable numbers and JSON have the separator of the program's locale"
