sources := evidence.c wrong.c where.c next.c answers.c belongs.c
