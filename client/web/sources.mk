sources := history_query.c api_history.c archived.c archived_gaps.c archived_series.c archived_bands.c worker.c api_archive.c api_diff.c inspections.c update_batch.c stream.c control.c server.c web.c
