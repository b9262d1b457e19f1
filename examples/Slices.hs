-- SPDX-License-Identifier: BSD-3-Clause
-- | A collector of reports: of each device's last report, 16 KiB, it keeps what the report begins with, 12 bytes.
-- Wrong: a slice of a ByteString keeps all of it alive. --fixed copies the slice.
--
--     ghc -O -threaded Slices.hs && heapwatch run -- ./Slices
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_)
import qualified Data.ByteString.Char8 as B
import Data.IORef
import qualified Data.Map.Strict as Map
import System.Environment (getArgs)

-- | "status-00042", and the report that begins with it.
brief, report :: Int -> B.ByteString
brief n = B.pack ("status-" ++ replicate (5 - length (show n)) '0' ++ show n)
report n = B.append (brief n) (B.replicate 16000 ' ')

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  devices <- newIORef (Map.fromList [(n, brief n) | n <- [1 .. 18000 :: Int]])
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [2 * tick - 1, 2 * tick] $ \n -> do
      let status = B.take 12 (report n)
      modifyIORef' devices (Map.insert n (if fixed then B.copy status else status))
    threadDelay 10000
  readIORef devices >>= print . Map.size
