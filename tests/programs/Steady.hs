-- SPDX-License-Identifier: BSD-3-Clause
-- | The same work as Leaky, nothing kept.
-- usage: Steady SECONDS       (flushes every 100 ms)
module Main (main) where

import Control.Monad (foldM)
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Work

main :: IO ()
main = do
  [seconds] <- fmap (map read) getArgs
  _ <- flushEvery 100
  -- Strictly: a sum that is not worked out keeps every list.
  n <- foldM (\s i -> tick i >>= \rs -> return $! s + length rs) 0 [1 .. seconds * 20 :: Int]
  print n
  _ <- flushNow
  return ()
