sources := hosts.c endpoints.c options.c absent.c signals.c inspector.c inspecting.c report.c out_file.c progress.c front.c
