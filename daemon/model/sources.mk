sources := model.c clock.c run.c sched.c heap.c gc.c gc_census.c nonmoving.c cost_centres.c ipe.c bands.c bands_add_census.c \
           band_history.c census.c notes.c profile.c ticky.c series.c histogram.c \
           sizing.c resident.c advice.c model_image.c
