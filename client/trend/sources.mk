sources := rows.c json.c command.c
