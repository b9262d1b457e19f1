-- SPDX-License-Identifier: BSD-3-Clause
-- | Kinds of growing memory, and of what only looks like it: what heapwatch reports of each is tested.
-- usage: Growth thunks|map|pinned|malloc|cache|saw [MS]     (a tick every MS, 20, until its stdin ends; flushes every 100 ms)
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, replicateM_, unless, when)
import Data.IORef
import Data.Word (Word8)
import Debug.Trace (traceMarkerIO)
import Foreign.ForeignPtr (ForeignPtr, mallocForeignPtrBytes, withForeignPtr)
import Foreign.Marshal.Alloc (mallocBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr)
import Foreign.Storable (peek, poke)
import System.Environment (getArgs)
import System.Mem (performMajorGC)
import qualified Data.Map.Strict as Map

import Flush (flushEvery, flushNow)
import Until

-- | Sets up, and returns the work of a tick, by number.
type Kind = IO (Int -> IO ())

-- | A counter that nobody reads: each step is a thunk on top of the one before.
thunks :: Kind
thunks = do
  counter <- newIORef (0 :: Int)
  return (\_ -> replicateM_ 1000 (modifyIORef counter (+ 1)))

-- | A map from which nothing is removed.
unbounded :: Kind
unbounded = do
  seen <- newIORef Map.empty
  return (\t -> forM_ [1 .. 500] (\i -> modifyIORef' seen (Map.insert (t * 500 + i) i)))

-- | Ten bytes of each buffer are needed, and all of it is kept.
pinned :: Kind
pinned = do
  slices <- newIORef ([] :: [ForeignPtr Word8])
  return (\_ -> do
    buffer <- mallocForeignPtrBytes 32768
    withForeignPtr buffer (`poke` 1)
    modifyIORef' slices (buffer :))

-- | C's memory, of which the runtime knows nothing.
offHeap :: Kind
offHeap = return (\_ -> do
  p <- mallocBytes size :: IO (Ptr Word8)
  fillBytes p 1 size
  _ <- peek p
  return ())
  where size = 256 * 1024 -- the C library maps each by itself

-- | Fills for a number of ticks and is then full.
cache :: Kind
cache = do
  entries <- newIORef Map.empty
  return (\t -> do
    when (t == full) (traceMarkerIO "cache full")
    forM_ [1 .. 500] (\i -> modifyIORef' entries (Map.insert (min t full * 500 + i) t)))
  where full = 60

-- | A batch that grows and is dropped, repeatedly.
saw :: Kind
saw = do
  batch <- newIORef []
  return (\t -> modifyIORef' batch (\b -> if t `mod` 20 == 0 then [] else foldr seq () new `seq` (new ++ b)) >> keep batch)
  where
    new = [1 .. 2000 :: Int]
    keep r = readIORef r >>= \b -> length b `seq` return ()

kinds :: [(String, Kind)]
kinds =
  [("thunks", thunks), ("map", unbounded), ("pinned", pinned), ("malloc", offHeap), ("cache", cache), ("saw", saw)]

main :: IO ()
main = do
  name : rest <- getArgs
  _ <- flushEvery 100
  step <- maybe (fail ("no kind " ++ name)) id (lookup name kinds)
  traceMarkerIO name
  ended <- untilStdinEnds
  let pause = case rest of { [ms] -> read ms; _ -> 20 }
      go t = ended >>= \over -> unless over (step t >> performMajorGC >> threadDelay (pause * 1000) >> go (t + 1))
  go 1
  step 0
  _ <- flushNow
  return ()
