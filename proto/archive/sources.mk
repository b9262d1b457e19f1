sources := log_file.c
