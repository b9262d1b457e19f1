sources := agent.c ctl.c print.c silence.c
