sources := permission.c processes.c loader.c tracee.c code.c inject.c ps.c process_only.c attach.c
