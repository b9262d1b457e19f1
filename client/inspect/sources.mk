sources := subject.c command.c
