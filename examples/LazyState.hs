-- SPDX-License-Identifier: BSD-3-Clause
-- | A bot that reads prices and keeps what it has learnt of them in a State monad.
-- Wrong: the monad is strict, the fields of its state are not: each price leaves two thunks. --fixed evaluates both.
--
--     ghc -O -threaded LazyState.hs && heapwatch run -- ./LazyState
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_)
import Control.Monad.State.Strict (StateT, execStateT, get, lift, put)
import System.Environment (getArgs)

data Seen = Seen Double Double   -- the sum, and the highest

-- | The prices of the last 10 ms.
prices :: Int -> [Double]
prices tick = [fromIntegral ((tick * n) `mod` 997) | n <- [1 .. 700]]

learn :: Bool -> Double -> StateT Seen IO ()
learn fixed price = do
  Seen t h <- get
  let t' = t + price
      h' = max h price
  if fixed then t' `seq` h' `seq` put (Seen t' h') else put (Seen t' h')

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  Seen t h <- flip execStateT (Seen 0 0) $ forM_ [1 .. 9000] $ \tick -> do
    forM_ (prices tick) (learn fixed)
    lift (threadDelay 10000)
  print (t, h)
