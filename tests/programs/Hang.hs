-- SPDX-License-Identifier: BSD-3-Clause
-- | Does a little and hangs in C forever. Run it with +RTS -V0: no timer moves it.
module Main (main) where

import Debug.Trace (traceMarkerIO)

import Flush (flushNow)
import Work

foreign import ccall unsafe "hang_for_ever" hangForEver :: IO ()

main :: IO ()
main = do
  traceMarkerIO "begin"
  _ <- tick 1
  _ <- flushNow
  hangForEver
