sources := question.c pasts.c pieces.c answered.c stream.c control.c server.c web.c
