sources := kinds.c topic.c endpoints.c fields.c message.c validate.c unpack.c json.c
