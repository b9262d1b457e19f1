sources := detail_json.c state_json.c
