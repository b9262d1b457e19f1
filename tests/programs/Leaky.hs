-- SPDX-License-Identifier: BSD-3-Clause
-- | Grows forever.
-- usage: Leaky SECONDS [more] (markers "begin", "half", "end"; flushes every 100 ms; `more`: and until its stdin ends)
module Main (main) where

import Control.Monad (forM_, unless, when)
import Data.IORef
import Debug.Trace (traceMarkerIO)
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Until
import Work

main :: IO ()
main = do
  seconds : more <- getArgs
  _ <- flushEvery 100
  kept <- newIORef []
  traceMarkerIO "begin"
  let ticks = read seconds * 20 :: Int
      grow i = tick i >>= \rs -> modifyIORef' kept (rs ++)
      goOn ended i = ended >>= \over -> unless over (grow i >> goOn ended (i + 1))
  forM_ [1 .. ticks] $ \i -> do
    when (i == ticks `div` 2) $ traceMarkerIO "half"
    grow i
  unless (null more) $ untilStdinEnds >>= \ended -> goOn ended (ticks + 1)
  traceMarkerIO "end"
  rs <- readIORef kept
  print (length rs)
  _ <- flushNow
  return ()
