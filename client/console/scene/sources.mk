sources := scene.c trends.c journal.c shown.c timeline.c said.c label.c
