-- SPDX-License-Identifier: BSD-3-Clause
-- | The same work as Leaky, nothing kept.
-- usage: Steady SECONDS [more] (flushes every 100 ms; `more`: and until its stdin ends)
module Main (main) where

import Control.Monad (foldM)
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Until
import Work

main :: IO ()
main = do
  seconds : more <- getArgs
  _ <- flushEvery 100
  -- Strictly: a sum that is not worked out keeps every list.
  let ticks = read seconds * 20 :: Int
      work s i = tick i >>= \rs -> return $! s + length rs
      goOn ended s i = ended >>= \over -> if over then return s else work s i >>= \t -> goOn ended t (i + 1)
  n <- foldM work 0 [1 .. ticks]
  total <- if null more then return n else untilStdinEnds >>= \ended -> goOn ended n (ticks + 1)
  print total
  _ <- flushNow
  return ()
