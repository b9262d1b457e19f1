sources := memory.c elf_file.c program.c object_file.c unwind.c
