sources := memory.c elf_file.c program.c
