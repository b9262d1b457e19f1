sources := facts.c cpu_tree.c thread_groups.c world.c world_target.c world_bands.c world_trend.c world_lists.c world_freeze.c band_name.c kept.c recall.c
