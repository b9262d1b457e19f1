sources := graph.c paths.c dominators.c file.c
