sources := rules.c findings.c junit.c check.c
