sources := test_values.c test_input.c test_run.c test_words.c rule_test.c tool.c
