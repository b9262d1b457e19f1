-- Reads eventlogs with the ghc-events library and prints for each how many events it has, or why it cannot be read.
import Control.Exception (SomeException, evaluate, try)
import Control.Monad (forM_)
import GHC.RTS.Events (dat, events, readEventLogFromFile)
import System.Environment (getArgs)

main :: IO ()
main = do
  paths <- getArgs
  forM_ paths $ \path -> do
    answer <- try (readEventLogFromFile path >>= either (return . Left) (fmap Right . evaluate . length . events . dat))
    putStrLn $ path ++ "\t" ++ case answer of
      Left e -> "error " ++ takeWhile (/= '\n') (show (e :: SomeException))
      Right (Left e) -> "error " ++ takeWhile (/= '\n') e
      Right (Right n) -> show n
