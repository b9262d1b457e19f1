-- SPDX-License-Identifier: BSD-3-Clause
-- | Keeps 5,000 arrays of 40 bytes with ten contents, of which seven are text, and 3,000 of 13 bytes that all differ, until
-- its input ends: in two lists, of which one is a top-level value.
module Main (main) where

import Control.Exception (evaluate)
import Data.ByteString.Short (ShortByteString, pack)
import qualified Data.ByteString.Short as Short
import Data.IORef
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)

kept :: [ShortByteString]
kept = [pack (replicate 40 (fromIntegral (12 * (i `mod` 10)))) | i <- [1 .. 5000 :: Int]] ++
       [pack (fromIntegral i : fromIntegral (i `div` 256) : replicate 11 9) | i <- [1 .. 3000 :: Int]]

-- | Another list of the same arrays.
again :: [a] -> [a]
again = foldr (:) []
{-# NOINLINE again #-}

main :: IO ()
main = do
    held <- newIORef (again kept)
    _ <- readIORef held >>= evaluate . sum . map Short.length
    performMajorGC
    putStrLn "ready" >> hFlush stdout
    _ <- getContents >>= evaluate . length
    readIORef held >>= print . length
    print (length kept)
