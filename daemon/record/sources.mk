sources := assembler.c budget.c run_writer.c recorder.c
