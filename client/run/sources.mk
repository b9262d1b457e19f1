sources := blocks.c relay.c flags.c daemon.c hung.c session.c run.c
