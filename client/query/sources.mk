sources := answer.c chart.c command.c examples.c functions.c module.c print.c prompt.c rows.c table_events.c tables.c
