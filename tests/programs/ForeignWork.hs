{-# LANGUAGE ForeignFunctionInterface #-}
-- SPDX-License-Identifier: BSD-3-Clause
-- | Calls C for as long as it runs: `safe` or `unsafe`, as its argument says.
module Main (main) where

import Control.Monad (forever)
import Data.Word (Word64)
import System.Environment (getArgs)
import System.IO

foreign import ccall safe "foreign_compress" compressSafe :: Word64 -> IO Word64
foreign import ccall safe "foreign_check" checkSafe :: Word64 -> IO Word64
foreign import ccall unsafe "foreign_compress" compressUnsafe :: Word64 -> IO Word64
foreign import ccall unsafe "foreign_check" checkUnsafe :: Word64 -> IO Word64

main :: IO ()
main = do
  [how] <- getArgs
  putStrLn "ready"
  hFlush stdout
  forever (if how == "safe" then compressSafe 10000 >> checkSafe 10000 else compressUnsafe 10000 >> checkUnsafe 10000)
