sources := notifier_child.c notifier.c notifier_requests.c reload.c silence_requests.c requests.c
