-- SPDX-License-Identifier: BSD-3-Clause
-- | A scaler of images, which gives each image to C in a buffer of malloc.
-- Wrong: after an image that C rejects, one in four, the buffer is not freed. --fixed uses allocaBytes, which does it.
--
--     ghc -O -threaded Ffi.hs && heapwatch run -- ./Ffi
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, unless)
import Data.Word (Word8)
import Foreign.Marshal.Alloc (allocaBytes, free, mallocBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr)
import System.Environment (getArgs)

size :: Int
size = 200 * 1000

-- | Stands for the C library: whether it could scale image n.
scale :: Int -> Ptr Word8 -> IO Bool
scale n buffer = fillBytes buffer (fromIntegral n) size >> return (n `mod` 4 /= 0)

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  forM_ [1 .. 9000] $ \n -> do
    if fixed
      then allocaBytes size $ \buffer -> scale n buffer >>= \done -> unless done (return ())
      else do
        buffer <- mallocBytes size
        done <- scale n buffer
        if done then free buffer else return ()
    threadDelay 10000
