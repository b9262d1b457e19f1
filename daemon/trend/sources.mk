# One series alone (what the leak lab scores), the early warning (scored by its own), then all trends of a target.
verdict := median.c rings.c ladder.c life.c theil_sen.c shape.c windows.c rare.c verdict.c onset.c time_to_limit.c \
     provisional.c trend.c
early := median.c theil_sen.c early_fit.c early_rise.c early_warning.c
sources := $(verdict) $(filter-out median.c theil_sen.c,$(early)) statistics.c series_sketch.c band_windows.c band_sketch.c band_now.c limit.c growth.c rise.c tracker.c tracker_bands.c \
     tracker_read.c tracker_threads.c tracker_early.c tracker_standing.c tracker_image.c
