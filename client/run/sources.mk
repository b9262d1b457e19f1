sources := blocks.c relay.c flags.c daemon.c hung.c notices.c session.c run.c
