sources := command.c options.c signals.c
