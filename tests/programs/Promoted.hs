-- SPDX-License-Identifier: BSD-3-Clause
-- | Keeps all records, or the newest 5,000 of them, the others being garbage of the oldest generation.
-- usage: Promoted all|newest     (200 records every 50 ms, for ever)
module Main (main) where

import Control.Concurrent (threadDelay)
import Data.IORef
import qualified Data.Map.Strict as Map
import System.Environment (getArgs)

data Record = Record !Int !Double

main :: IO ()
main = do
  [which] <- getArgs
  kept <- newIORef Map.empty
  let newest = if which == "newest" then (>= 5000) else const False
      add i m = Map.insert i (Record i (fromIntegral i)) (if newest (Map.size m) then Map.deleteMin m else m)
      go t = modifyIORef' kept (\m -> foldr add m [t * 200 .. t * 200 + 199]) >> threadDelay 50000 >> go (t + 1)
  go (0 :: Int)
