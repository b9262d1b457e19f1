sources := pipe.c csv.c
