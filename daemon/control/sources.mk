sources := fd_store.c service.c notifier.c own_life.c replies.c alert_line.c reload.c recording_requests.c silence_requests.c roles.c snapshots.c pending.c requests.c
