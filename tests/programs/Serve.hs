-- | Works and keeps some of its data until its standard input ends. Built without any flag: nothing here flushes.
module Main (main) where

import Control.Concurrent
import Control.Monad
import qualified Data.ByteString as B
import qualified Data.Map.Strict as M
import Data.IORef

main :: IO ()
main = do
  kept <- newIORef M.empty
  over <- newIORef False
  _ <- forkIO (getContents >>= \s -> length s `seq` writeIORef over True)
  let go n = do
        modifyIORef' kept (M.insert n (B.replicate 2000 7, show n))
        _ <- return $! sum [1 .. 3000 + n `mod` 7]
        when (n `mod` 5 == 0) $ threadDelay 1000
        ended <- readIORef over
        unless ended (go (n + 1))
  go (0 :: Int)
