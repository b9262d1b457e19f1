sources := schema.c database.c pending.c build_id.c observe.c writer.c keep.c archiver.c select.c read.c as_log.c history.c command.c
