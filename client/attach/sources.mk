sources := processes.c inject.c ps.c attach.c
