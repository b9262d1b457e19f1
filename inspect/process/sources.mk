sources := files.c live.c core.c stop.c
