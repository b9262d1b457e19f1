sources := history_query.c api_history.c archived.c archive_query.c worker.c api_archive.c api_diff.c update_batch.c answered.c stream.c control.c server.c web.c
