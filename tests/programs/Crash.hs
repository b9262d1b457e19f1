-- SPDX-License-Identifier: BSD-3-Clause
-- | Works, then dies without an end of its eventlog.
-- usage: Crash SECONDS        (flushes every 100 ms; ends itself with SIGKILL)
module Main (main) where

import Foreign.C.Types (CInt (..))
import System.Environment (getArgs)

import Flush (flushEvery, flushNow)
import Work

foreign import ccall unsafe "getpid" getPid :: IO CInt
foreign import ccall unsafe "kill" killProcess :: CInt -> CInt -> IO CInt

main :: IO ()
main = do
  [seconds] <- fmap (map read) getArgs
  _ <- flushEvery 100
  mapM_ tick [1 .. seconds * 20 :: Int]
  _ <- flushNow
  me <- getPid
  _ <- killProcess me 9
  return ()
