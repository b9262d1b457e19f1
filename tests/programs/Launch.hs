-- | Starts the command in its arguments, like tools that build and then run: "fork" and wait for it, "exec" in its place.
module Main (main) where

import System.Environment
import System.Exit
import System.Posix.Process

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    "exec" : program : rest -> executeFile program False rest Nothing
    "fork" : program : rest -> do
      child <- forkProcess (executeFile program False rest Nothing)
      status <- getProcessStatus True False child
      case status of
        Just (Exited code) -> exitWith code
        _ -> exitWith (ExitFailure 99)
    _ -> exitWith (ExitFailure 98)
