sources := evidence.c wrong.c where.c why.c next.c next_end.c next_growth.c next_alert.c next_wait.c step.c answers.c census.c alert_parts.c account.c
