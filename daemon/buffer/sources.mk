sources := read_buffer.c
