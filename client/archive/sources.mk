sources := schema.c database.c pending.c build_id.c observe.c writer.c keep.c archiver.c select.c read.c run_events.c history.c command.c
