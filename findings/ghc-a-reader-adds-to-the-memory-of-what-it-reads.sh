#!/bin/bash
# GHC 9.0.2 on Linux: a tool reads a program's memory from outside, by process_vm_readv(2) or /proc/PID/mem, to look for
# something or to copy it. What changes in the program? Expected: nothing, it is read, and does not even run. But a page
# that the program has not touched is brought in for it, into its own page tables: of a file of 200 MB that a Haskell program
# has mapped, as a database or an index is, and not looked at, each page that another process reads is from then on in its
# RSS, its Pss and its RssFile. The program of 3 MB has 200, while all it did was wait; and it is marked
# Referenced. Of anonymous memory that was never written (a heap's reserve, a fresh array) the page of zeroes is mapped,
# which is in no RSS, but the tables are: VmPTE grows by a 512th. So who watches memory and reads it too measures itself: read
# RSS first, and leave alone what is not resident (pagemap, mincore). The manual of process_vm_readv does not tell.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# GHC in a folder of its own: gcc and apt-get are the machine's.
packages="ghc=9.0.2-4 libgmp-dev=2:6.2.1+dfsg1-1.1 libgmp10=2:6.2.1+dfsg1-1.1"
apt-get -qq -o APT::Sandbox::User=root download $packages
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib
rm "$lib/ghc/package.conf.d"
mv root/var/lib/ghc/package.conf.d "$lib/ghc/"
sed -i "s#/usr/lib/ghc#$lib/ghc#" "$lib"/ghc/package.conf.d/*.conf
"$lib/ghc/bin/ghc-pkg" --global-package-db "$lib/ghc/package.conf.d" recache
compile() { "$lib/ghc/bin/ghc" -B"$lib/ghc" -L"$lib/x86_64-linux-gnu" -v0 "$@"; }
"$lib/ghc/bin/ghc" -B"$lib/ghc" --version

cat > Maps.hs <<'H'
module Main (main) where
import Foreign.C
import Foreign.Ptr
import System.Posix.IO

foreign import ccall unsafe "mmap" mmap :: Ptr () -> CSize -> CInt -> CInt -> CInt -> CLong -> IO (Ptr ())

main :: IO ()
main = do
  file <- openFd "store" ReadOnly Nothing defaultFileFlags
  ofFile <- mmap nullPtr 200000000 1 2 (fromIntegral file) 0 -- PROT_READ, MAP_PRIVATE
  ofNone <- mmap nullPtr 200000000 3 0x22 (-1) 0 -- PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS
  writeFile "where" (unwords [show (ptrToIntPtr ofFile), show (ptrToIntPtr ofNone)])
  writeFile "ready" ""
  _ <- getLine
  return ()
H
compile -O1 -package unix Maps.hs
head -c 200000000 /dev/zero | tr '\0' x > store
mkfifo input
./Maps < input &
program=$!
exec 3> input
until [ -e ready ]; do sleep 0.1; done
cat > reads.py <<'P'
import re
import sys

pid = sys.argv[1]
places = [int(text) for text in re.findall(r'\d+', open('where').read())]

def state(when):
    fields = dict(line.split(':') for line in open(f'/proc/{pid}/status'))
    print(when, *(f"{name} {int(fields[name].split()[0]) // 1000}" for name in ('RssAnon', 'RssFile')),
          'VmPTE', int(fields['VmPTE'].split()[0]))

state('before')
for place, what in zip(places, ('file', 'zeroes')):
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        memory.seek(place)
        got = sum(len(memory.read(1000000)) for _ in range(200))
    assert got == 200000000
    state(what)
P
echo "MB (VmPTE: kB) before another process reads, after it has read the mapped file, and the memory never written:"
python3 reads.py "$program" | tee seen
echo >&3
wait "$program" || true
awk '{ anon[$1] = $3; file[$1] = $5; tables[$1] = $7 }
     END { exit !(file["before"] < 20 && file["file"] > 190 && file["zeroes"] > 190 && anon["zeroes"] < 20 &&
                  tables["zeroes"] > tables["file"] + 300) }' seen ||
        { echo "changed: expected 200 MB of RssFile by the first, and 390 kB of tables by the second"; exit 1; }
echo "as seen: a program that waits has grown by what another process has read"
