sources := account.c command.c
