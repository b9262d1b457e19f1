-- SPDX-License-Identifier: BSD-3-Clause
-- | Ends its eventlog in the middle and begins it again.
-- usage: Restart TICKS        (markers "first" and "second", one in each log)
module Main (main) where

import Control.Monad (forM_)
import Debug.Trace (traceMarkerIO)
import System.Environment (getArgs)
import System.Mem (performGC)

import Work

foreign import ccall unsafe "restart_eventlog" restartEventlog :: IO ()

main :: IO ()
main = do
  [ticks] <- fmap (map read) getArgs
  traceMarkerIO "first"
  forM_ [1 .. ticks :: Int] tick
  performGC
  restartEventlog
  traceMarkerIO "second"
  forM_ [1 .. ticks] tick
  performGC
