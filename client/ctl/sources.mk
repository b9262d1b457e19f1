sources := ctl.c print.c silence.c
