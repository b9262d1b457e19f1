sources := bands.c graph.c paths.c dominators.c fold.c file.c
