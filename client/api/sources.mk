sources := detail_json.c answers_json.c row_json.c state_json.c
