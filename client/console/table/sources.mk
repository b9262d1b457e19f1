sources := value.c figures.c table.c table_draw.c table_keys.c table_print.c
