sources := top.c loop.c screen.c plain.c console.c frame.c entry.c save.c census.c inspections.c
