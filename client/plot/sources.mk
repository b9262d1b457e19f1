sources := gather.c choose.c theme.c draw.c command.c
