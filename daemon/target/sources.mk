sources := life.c pipeline_life.c damages.c publish_pace.c pipeline_state.c pipeline_end.c run_before.c same_run.c pipeline_stream.c pipeline_process.c pipeline_live.c \
           pipeline_checkpoint.c held_stream.c recorded_streams.c rebuild.c pipeline.c targets.c checkpoints.c daemon_state.c log_origin.c log_reader.c
