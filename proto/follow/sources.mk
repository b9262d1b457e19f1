sources := queue.c clone.c zparts.c subscriber.c request.c
