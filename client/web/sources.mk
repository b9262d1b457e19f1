sources := answer.c guard.c question.c pasts.c pieces.c stream.c control.c server.c web.c
