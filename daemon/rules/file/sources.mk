sources := do_block.c rule_file.c rulebook.c tool.c
