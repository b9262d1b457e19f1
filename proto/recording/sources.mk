sources := frame.c frame_file.c run_dir.c cutout.c stretch.c pin.c run_end.c
