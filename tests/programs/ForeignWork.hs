{-# LANGUAGE ForeignFunctionInterface #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- | Calls C for as long as it runs: `safe` or `unsafe`, as its argument says. With `wait` seven threads wait in a
-- `safe` call while their stacks are moved, and another one in a call that Haskell has made in a call back.
module Main (main, compress, check) where

import Control.Concurrent (forkIO, yield)
import Control.Monad (forever, replicateM_, when)
import Data.Word (Word64)
import Foreign.Ptr (FunPtr)
import System.Environment (getArgs)
import System.IO
import System.Mem (performMajorGC)

foreign import ccall safe "foreign_compress" compressSafe :: Word64 -> IO Word64
foreign import ccall safe "foreign_check" checkSafe :: Word64 -> IO Word64
foreign import ccall unsafe "foreign_compress" compressUnsafe :: Word64 -> IO Word64
foreign import ccall unsafe "foreign_check" checkUnsafe :: Word64 -> IO Word64
foreign import ccall safe "foreign_wait" wait :: Word64 -> IO Word64
foreign import ccall unsafe "foreign_waiting" waiting :: IO Word64
foreign import ccall safe "foreign_call_back" callBack :: FunPtr (IO ()) -> IO Word64
foreign import ccall "wrapper" wrapped :: IO () -> IO (FunPtr (IO ()))

main :: IO ()
main = do
  [how] <- getArgs
  putStrLn "ready"
  hFlush stdout
  when (how == "wait") waitInC
  forever (if how == "safe" then compressSafe 10000 >> checkSafe 10000 >> return () else compress 1 >> check 1)

-- | Exported, so that they have symbols. While they are in C nothing of theirs is on the stack.
compress, check :: Int -> IO ()
compress n = when (n > 0) (compressUnsafe 10000 >> compress (n - 1))
check n = when (n > 0) (checkUnsafe 10000 >> check (n - 1))
{-# NOINLINE compress #-}
{-# NOINLINE check #-}

waitInC :: IO ()
waitInC = do
  replicateM_ 7 (forkIO (wait 3 >> return ()))
  let untilAllWait = waiting >>= \n -> when (n < 7) (yield >> untilAllWait)
  untilAllWait
  performMajorGC
  inner <- wrapped (wait 3 >> return ())
  callBack inner >> return ()
