sources := types.c print.c events.c
