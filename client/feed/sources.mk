sources := find_daemon.c feed.c feed_live.c feed_files.c
