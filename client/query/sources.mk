sources := command.c functions.c module.c print.c rows.c table_events.c tables.c
