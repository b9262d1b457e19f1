sources := known.c print.c alerts.c
