-- | The program's own eventlog is written from the start (-with-rtsopts), read back, and has what was said.
{-# LANGUAGE CPP #-}

module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (ErrorCall (..), throwIO, try)
import Control.Monad (unless)
import Data.List (isInfixOf)
import System.IO (IOMode (ReadMode), hGetContents, hSetBinaryMode, openFile)

import Heapwatch

foreign import ccall safe "endEventLogging" endEventLogging :: IO ()

check :: String -> Bool -> IO ()
check what holds = unless holds (fail what)

main :: IO ()
main = do
  result <- withHeapwatch $ do
    label "the main one"
    marker "cache full: \252"
    n <- phase "load" (pure (6 * 7 :: Int))
    failed <- try (phase "parse" (throwIO (ErrorCall "bad input")))
    check "an exception leaves a phase as it is" (failed == (Left (ErrorCall "bad input") :: Either ErrorCall ()))
    census
    threadDelay 200000
    pure n
  check "results are passed on" (result == 42)
  endEventLogging

  -- Nothing watches now.
  marker (error "a text was evaluated")
  census
  phase (error "a name was evaluated") (label "another")

  handle <- openFile "heapwatch-test.eventlog" ReadMode
  hSetBinaryMode handle True
  written <- hGetContents handle
  let expect text = check ("the eventlog has " ++ show text) (text `isInfixOf` written)
  mapM_ expect ["the main one", "cache full: \195\188", "load begins", "load ends", "parse begins", "parse failed"]
  check "a phase that failed has no end" (not ("parse ends" `isInfixOf` written))
#if MIN_VERSION_base(4,18,0)
  expect "ARR_WORDS" -- of the census
#endif
