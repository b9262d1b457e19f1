sources := locate.c feed.c feed_live.c feed_files.c gather.c selection.c
