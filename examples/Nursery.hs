-- SPDX-License-Identifier: BSD-3-Clause
-- | A calculator of routes with a worker for each processor, and flags that someone once found faster.
-- Wrong: each capability has an allocation area of its own: 8 times 32 MiB are filled before anything is collected,
-- while hardly anything is alive. Mended by "-with-rtsopts=-N2 -A4m".
--
--     ghc -O -threaded -rtsopts "-with-rtsopts=-N8 -A32m" Nursery.hs && heapwatch run -- ./Nursery
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM_, forever)
import qualified Data.IntMap.Strict as IntMap

-- | A route needs memory for a moment only.
route :: Int -> Int
route n = IntMap.foldl' (+) 0 (IntMap.fromList [((n * k) `mod` 4093, k) | k <- [1 .. 400]])

main :: IO ()
main = do
  workers <- getNumCapabilities
  forM_ [1 .. workers] $ \worker -> forkOn worker $ forever $ do
    forM_ [1 .. 3] $ \n -> evaluate (route (worker * n))
    threadDelay 10000
  threadDelay (90 * 1000 * 1000)
