-- SPDX-License-Identifier: BSD-3-Clause
-- | A web service that keeps a session for each visitor.
-- Wrong: nothing removes a session. --fixed drops those that are older than a second.
--
--     ghc -O -threaded UnboundedMap.hs && heapwatch run -- ./UnboundedMap
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, when)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import System.Environment (getArgs)

data Session = Session !Int ![Int]    -- since when, and the basket

-- | What visitor n of this tick has put into the basket.
visit :: Int -> Int -> Session
visit tick n = sum goods `seq` Session tick goods
  where goods = [n `mod` 7 .. n `mod` 7 + 9]

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  sessions <- newIORef IntMap.empty
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 100] $ \n -> modifyIORef' sessions (IntMap.insert (100 * tick + n) (visit tick n))
    when fixed $ modifyIORef' sessions (snd . IntMap.split (100 * (tick - 100)))
    threadDelay 10000
  readIORef sessions >>= print . IntMap.size
