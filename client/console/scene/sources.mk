sources := series_past.c recall.c band_past.c scene.c trends.c journal.c shown.c timeline.c
