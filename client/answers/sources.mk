sources := evidence.c wrong.c where.c next.c step.c answers.c belongs.c
