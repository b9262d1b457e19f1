sources := schedule.c output.c replay.c
