sources := processes.c inject.c ask.c ps.c attach.c
