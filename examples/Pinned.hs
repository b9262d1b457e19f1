-- SPDX-License-Identifier: BSD-3-Clause
-- | A mail server that remembers the short id, 20 bytes, of one mail in five hundred, of the newest 12,000 such mails.
-- Wrong: a ByteString is pinned: it never moves, and one that is kept keeps the block of 4 KiB in which it lies, with
-- all the others that are long dead. --fixed keeps a ShortByteString, which the collector moves.
--
--     ghc -O -threaded Pinned.hs && heapwatch run -- ./Pinned
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_, when)
import Data.Array.IO (IOArray, newArray, readArray, writeArray)
import qualified Data.ByteString.Char8 as B
import qualified Data.ByteString.Short as Short
import System.Environment (getArgs)

data Id = Long !B.ByteString | Short !Short.ShortByteString

-- | The id of mail n.
mailId :: Int -> B.ByteString
mailId n = B.pack ("mail-" ++ reverse (take 15 (reverse (replicate 15 '0' ++ show n))))

main :: IO ()
main = do
  fixed <- (== ["--fixed"]) <$> getArgs
  kept <- newArray (0, 11999) (Long B.empty) :: IO (IOArray Int Id)
  forM_ [1 .. 9000] $ \tick -> do
    forM_ [1 .. 1000] $ \n -> do
      new <- evaluate (mailId (1000 * tick + n))
      when (n `mod` 500 == 0) $ do
        one <- evaluate (if fixed then Short (Short.toShort new) else Long new)
        writeArray kept ((2 * tick + n `div` 500) `mod` 12000) one
    threadDelay 10000
  readArray kept 0 >>= \one -> print (case one of { Long b -> B.length b; Short s -> Short.length s })
