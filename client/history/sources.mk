sources := past.c grid.c collections.c history.c past_json.c
