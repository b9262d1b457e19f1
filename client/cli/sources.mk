sources := command.c options.c signals.c json_out.c
