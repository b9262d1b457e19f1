{-# LANGUAGE CPP, ForeignFunctionInterface #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- | Writes the eventlog out now and then, so that it can be watched live.
-- From GHC 9.2 on this is one library call; for 9.0 see flush.c.
module Flush (flushNow, flushEvery) where

import Control.Concurrent (ThreadId, forkIO, threadDelay)
import Control.Monad (forever, when)
#if __GLASGOW_HASKELL__ >= 902
import Debug.Trace (flushEventLog)
#else
import Foreign.C.Types (CInt (..))
#endif
import GHC.Conc (labelThread)
import System.IO (hPutStrLn, stderr)

#if __GLASGOW_HASKELL__ >= 902
flushNow :: IO Int
flushNow = flushEventLog >> return 0
#else
foreign import ccall unsafe "flush_eventlog" cFlush :: IO CInt

-- | 0, or a negative number when this runtime system cannot be flushed.
flushNow :: IO Int
flushNow = fromIntegral <$> cFlush
#endif

-- | A thread that flushes at an interval in milliseconds, for as long as the program runs.
flushEvery :: Int -> IO ThreadId
flushEvery ms = do
  r <- flushNow
  when (r < 0) $ hPutStrLn stderr "flush: this runtime system cannot be flushed (use one capability)"
  t <- forkIO (forever (threadDelay (ms * 1000) >> flushNow))
  labelThread t "flush"
  return t
