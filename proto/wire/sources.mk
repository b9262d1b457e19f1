sources := kinds.c topic.c endpoints.c fields.c validate.c unpack.c json.c
