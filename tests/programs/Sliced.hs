-- SPDX-License-Identifier: BSD-3-Clause
-- | Keeps of 1,000 strings of 8,000 bytes two slices each, of 500 texts of 4,000 characters one, and of 9,000 strings of
-- 104 bytes each thirtieth, until its input ends. With "copy" it keeps copies of the slices, and all of the 9,000.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM)
import qualified Data.ByteString as B
import Data.IORef
import qualified Data.Text as T
import System.Environment (getArgs)
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)

main :: IO ()
main = do
    copies <- (== ["copy"]) <$> getArgs
    let kept copy = evaluate . if copies then copy else id
    strings <- forM [1 .. 1000] $ \i -> do
        whole <- evaluate (B.replicate 8000 (fromIntegral (i :: Int)))
        (,) <$> kept B.copy (B.take 12 (B.drop 100 whole)) <*> kept B.copy (B.take 20 (B.drop 106 whole))
    texts <- forM [1 .. 500] $ \i -> do
        whole <- evaluate (T.replicate 4000 (T.singleton (toEnum (65 + i `mod` 26))))
        kept T.copy (T.take 7 whole)
    let short i some
            | i > 9000 = return some
            | otherwise = do
                one <- evaluate (B.replicate 104 (fromIntegral (i :: Int)))
                short (i + 1) $! if copies || i `mod` 30 == 0 then one : some else some
    held <- short 1 [] >>= \some -> newIORef (strings, texts, some)
    performMajorGC
    putStrLn "ready" >> hFlush stdout
    _ <- getContents >>= evaluate . length
    (a, b, c) <- readIORef held
    print (sum (map (B.length . fst) a) + sum (map T.length b) + length c)
