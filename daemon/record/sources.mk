sources := assembler.c gather.c jobs.c recording.c recorder.c run_writer.c budget.c
