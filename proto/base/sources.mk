sources := array.c error.c rts_options.c labels.c log_line.c sibling.c process_stat.c arena.c hash.c strings.c pool.c idtable.c nearest.c text_out.c utf8.c glyph.c decimal.c text.c rate.c quantity.c severity.c \
           sketch.c json_out.c document.c whole_file.c private_directory.c private_file.c unix_socket.c name_order.c agent_peer.c daemon_life.c haskell_symbol.c
