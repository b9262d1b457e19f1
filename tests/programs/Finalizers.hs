-- SPDX-License-Identifier: BSD-3-Clause
-- Keeps 5,000 pointers with a finaliser in C, 400 weak pointers whose keys are dead, and 300 stable names; then waits for a line.
module Main (main) where

import Control.Monad (forM)
import Data.IORef (mkWeakIORef, newIORef)
import Foreign (Ptr, finalizerFree, mallocBytes, newForeignPtr, touchForeignPtr)
import System.IO (hFlush, stdout)
import System.Mem (performMajorGC)
import System.Mem.StableName (hashStableName, makeStableName)
import System.Mem.Weak (deRefWeak)

main :: IO ()
main = do
  held <- forM [1 .. 5000 :: Int] $ \_ -> (mallocBytes 16 :: IO (Ptr Int)) >>= newForeignPtr finalizerFree
  names <- mapM makeStableName (take 300 held)
  dead <- forM [1 .. 400 :: Int] $ \n -> newIORef n >>= \key -> mkWeakIORef key (return ())
  performMajorGC
  performMajorGC
  putStrLn "ready"
  hFlush stdout
  _ <- getLine
  mapM_ touchForeignPtr held
  mapM_ (print . hashStableName) names
  mapM deRefWeak dead >>= print . length
