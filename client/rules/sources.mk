sources := rules.c findings.c check.c
