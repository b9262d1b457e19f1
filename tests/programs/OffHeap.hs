-- SPDX-License-Identifier: BSD-3-Clause
-- | Steady on the heap; what it takes from malloc is touched and never freed.
-- usage: OffHeap SECONDS      (2 MiB a second; flushes every 100 ms)
module Main (main) where

import Control.Monad (forM_)
import Foreign.Marshal.Alloc (mallocBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr)
import Data.Word (Word8)
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Work

main :: IO ()
main = do
  [seconds] <- fmap (map read) getArgs
  _ <- flushEvery 100
  forM_ [1 .. seconds * 20 :: Int] $ \i -> do
    p <- mallocBytes size :: IO (Ptr Word8)
    fillBytes p 1 size
    rs <- tick i
    print (length rs)
  _ <- flushNow
  return ()
  where
    size = 100 * 1024
