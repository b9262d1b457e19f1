sources := ring.c document.c put.c past.c stats.c grid.c collections.c history.c item.c
