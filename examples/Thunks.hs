-- SPDX-License-Identifier: BSD-3-Clause
-- | A gateway that counts the bytes it forwards, for a status page that nobody has opened yet.
-- Wrong: modifyIORef does not add, it stores a note to add later, a thunk for each packet. --fixed uses modifyIORef'.
--
--     ghc -O -threaded Thunks.hs && heapwatch run -- ./Thunks
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_)
import Data.IORef
import System.Environment (getArgs)

-- | The sizes of the packets that came in the last 10 ms.
packets :: Int -> [Int]
packets tick = [64 + (tick * n) `mod` 1400 | n <- [1 .. 2000]]

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  forwarded <- newIORef (0 :: Int)
  let count size
        | fixed = modifyIORef' forwarded (+ size)
        | otherwise = modifyIORef forwarded (+ size)
  forM_ [1 .. 9000] $ \tick -> do
    forM_ (packets tick) count
    threadDelay 10000
  readIORef forwarded >>= print
