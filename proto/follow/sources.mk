sources := queue.c clone.c zparts.c wakeup.c subscriber.c requester.c request.c probe.c
