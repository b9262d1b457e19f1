sources := frames.c moment.c spool.c hp.c table.c csv_wide.c json.c collapsed.c speedscope.c pprof_file.c pprof.c perfetto.c parallel_texts.c openmetrics.c convert.c
