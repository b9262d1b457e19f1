sources := subject.c child.c command.c
