sources := rows.c tables.c module.c functions.c print.c command.c
