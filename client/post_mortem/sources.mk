sources := command.c
