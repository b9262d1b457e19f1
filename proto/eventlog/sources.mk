sources := event_table.c cursor.c header.c decoder.c ipe.c resync.c join.c fields.c advice.c writer.c
