sources := answer.c chart.c command.c examples.c functions.c module.c print.c rows.c table_events.c tables.c
