sources := trend.c trend_rows.c trend_json.c check.c check_findings.c rules.c post_mortem.c inspect.c inspect_subject.c coredump.c events.c \
           event_print.c event_types.c pipe.c pipe_csv.c recordings.c stretch_file.c dump.c bundles.c bundle.c \
           ctl.c ctl_print.c silence.c doctor.c doctor_features.c doctor_unit.c doctor_project.c doctor_patch.c keys.c completion.c
