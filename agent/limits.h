/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the agent may use in the program, and what happens beyond. */
#pragma once

#define AGENT_PATH_MAX          108          /* a socket's path, NUL included: sun_path */
#define AGENT_QUEUE_BYTES       (16u << 20)  /* waiting for a reader: further whole blocks are dropped and counted */
#define AGENT_DEFINITIONS_BYTES (64u << 20)  /* kept for late readers: further ones are left out and counted */
#define AGENT_LABELS_BYTES      (256u << 10) /* of these, thread labels: the older half is dropped */
#define AGENT_NAMED_TABLES      65536u       /* info tables looked up in the symbol table: later ones stay addresses */
#define AGENT_HEADER_BYTES      (64u << 10)  /* a longer header is not kept */
#define AGENT_OWN_LOG_BYTES     (16u << 20)  /* of a log that the program writes itself: the rest is not read */
#define AGENT_SYMBOLS_BYTES     3072         /* of the setting `symbols` */
#define AGENT_SETTING_BYTES     3100         /* "key=value": a longer one is refused */
#define AGENT_READERS           4            /* at once: a further one is refused */
#define AGENT_READER_CHUNKS     4096         /* pieces that wait for one reader: as AGENT_QUEUE_BYTES */
#define AGENT_REQUEST_BYTES     256          /* a request's line: a longer one ends the connection */
#define AGENT_GIVEN_BYTES       (1u << 20)   /* of a census that was read from outside: with more the connection ends */
#define AGENT_REQUESTS          8            /* waiting to be done: a further one is answered with "busy" */
#define AGENT_MESSAGE_BYTES     512          /* of an answer or a notice in the stream: it is cut */
#define AGENT_EVENT_TYPES       1024 /* a header that declares higher numbers is passed on, but not understood */
#define AGENT_CAPABILITIES      1024 /* definitions of further ones are left out and counted */
#define AGENT_FD_FROM           200  /* our descriptors: above those that programs rely on */
#define AGENT_OPEN_FILES        64u  /* with a lower limit of open files the program is left alone */
#define AGENT_FILE_BYTES        32u  /* likewise, of the size of a file: of the claim */
#define AGENT_STACK_BYTES       (256u << 10) /* of each of our threads */
