sources := severity.c known.c print.c alerts.c
