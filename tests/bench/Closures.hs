-- SPDX-License-Identifier: BSD-3-Clause
-- Holds a map of as many entries as it is told, of nine or ten closures each, until its standard input is closed.
module Main (main) where

import Data.IORef (newIORef, readIORef)
import qualified Data.Map.Strict as Map
import System.Environment (getArgs)
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)

data Entry = Entry {key :: !Int, names :: [Int], next :: Maybe Entry}

entry :: Int -> (Int, Entry)
entry i = (i, Entry i [i, i + 1, i + 2] (if even i then Just (Entry (i + 7) [i] Nothing) else Nothing))

-- All of it is evaluated.
weight :: Entry -> Int
weight e = sum (names e) + maybe 0 (\x -> key x + weight x) (next e)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  held <- newIORef (Map.fromDistinctAscList (map entry [1 .. n]))
  entries <- readIORef held
  Map.foldl' (\a e -> a + weight e) 0 entries `seq` performMajorGC
  putStrLn "ready" >> hFlush stdout
  getContents >>= putStr
  readIORef held >>= print . Map.size
