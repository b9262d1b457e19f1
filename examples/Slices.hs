-- SPDX-License-Identifier: BSD-3-Clause
-- | A collector of reports: of each request, 16 KiB, it keeps the name of the device, 12 bytes.
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

-- | A request: "device-00042 " and its measurements.
request :: Int -> B.ByteString
request n = B.concat [B.pack ("device-" ++ replicate (5 - length (show n)) '0' ++ show n), B.replicate 16000 ' ']

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  devices <- newIORef Map.empty
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 4] $ \n -> do
      let name = B.take 12 (request (4 * tick + n))
      modifyIORef' devices (Map.insert (if fixed then B.copy name else name) tick)
    threadDelay 10000
  readIORef devices >>= print . Map.size
