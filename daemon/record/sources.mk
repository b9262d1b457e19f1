sources := assembler.c blocks.c gather.c jobs.c recording.c pause.c probe.c recorder.c run_writer.c budget.c
