sources := facts.c cell.c packed_cell.c fold.c pyramid.c
