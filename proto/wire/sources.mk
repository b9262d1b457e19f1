sources := kinds.c topic.c endpoints.c endpoint_keys.c trust.c state_path.c fields.c message.c validate.c unpack.c \
           json.c resident_parts.c action_plan.c
