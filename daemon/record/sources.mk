sources := assembler.c recording.c recorder.c run_writer.c budget.c
