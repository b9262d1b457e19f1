sources := print.c command.c
