sources := processes.c loader.c tracee.c code.c inject.c ps.c attach.c
