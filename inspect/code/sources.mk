sources := known_code.c make.c symbols.c
