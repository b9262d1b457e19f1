sources := detail_json.c answers_json.c state_json.c cpu_json.c
