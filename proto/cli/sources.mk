sources := command.c options.c help.c complete.c version.c
