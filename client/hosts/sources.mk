sources := hosts.c endpoints.c
