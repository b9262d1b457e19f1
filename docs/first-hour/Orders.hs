-- SPDX-License-Identifier: BSD-3-Clause
-- | An order service of the first hour: from its "deploy" on it keeps a receipt of every order, and never removes one.
--
-- usage: orders SECONDS      the deploy comes so many seconds after the start
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Monad (forM_, when)
import qualified Data.ByteString.Char8 as B
import Data.IORef
import qualified Data.Map.Strict as Map
import Debug.Trace (traceMarkerIO)
import GHC.Clock (getMonotonicTime)
import System.Environment (getArgs)

data Receipt = Receipt { order :: !Int, items :: ![Int], text :: !B.ByteString }

-- | The work of one order: its price, which needs memory for a moment only.
price :: Int -> Int
price n = sum (map length [show (n * k) | k <- [1 .. 300 :: Int]])

receipt :: Int -> Receipt
receipt n = sum goods `seq` Receipt n goods (B.replicate 400 (toEnum (97 + n `mod` 26)))
  where goods = [n .. n + 20]

main :: IO ()
main = do
  [after] <- map read <$> getArgs
  catalogue <- newIORef (Map.fromList [(i, receipt i) | i <- [1 .. 2000]])
  receipts <- newIORef Map.empty
  started <- getMonotonicTime
  deployed <- newIORef False
  traceMarkerIO "orders 1.4.1"
  forM_ [1 ..] $ \n -> do
    now <- getMonotonicTime
    known <- Map.lookup (n `mod` 2000 + 1) <$> readIORef catalogue
    when (price n + maybe 0 order known == 0) $ putStrLn "free"
    isNew <- readIORef deployed
    when (not isNew && now - started >= after) $ do
      traceMarkerIO "deploy 1.4.2"
      writeIORef deployed True
    when isNew $ forM_ [1 .. 10] $ \i -> modifyIORef' receipts (Map.insert (10 * n + i) $! receipt (10 * n + i))
    threadDelay 5000
