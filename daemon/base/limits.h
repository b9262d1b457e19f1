/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - every cap in one place: what is bounded, in which unit, and what happens when it is met. */
#ifndef HW_BASE_LIMITS_H
#define HW_BASE_LIMITS_H

/* decode */
#define LIMIT_HEADER_TEXT_BYTES 65536u  /* one description or extension in the header: LIMIT, resynchronise */
#define LIMIT_HEADER_TYPES 65536u       /* event types in one header: LIMIT, resynchronise */
#define LIMIT_BLOCK_BYTES (64u << 20)   /* one block (the RTS uses 2 MiB): LIMIT, resynchronise */

/* source */
#define READ_BUFFER_BYTES (64u * 1024) /* one read(2) of a finished log: small, so that all else stays in the cache */
#define READ_TURN_BYTES (256u * 1024) /* one turn of the loop per source: then others, and requests, get theirs */
#define LOOP_PRIORITIES 2       /* of the daemon's event loop: events are LOOP_PRIORITIES / 2 unless they say ... */
#define LOOP_FIRST 0            /* ... that they go before: requests, signals, the heartbeat */
#define READ_PIECE_BYTES (16u * 1024) /* a turn reads so much at a time ... */
#define READ_TURN_NS 10000000u /* ... and ends after this time: days of a program that says little are in few bytes */
#define LIMIT_PIPE_BYTES (1 << 20)      /* asked of the kernel for a FIFO: a writer's slack while we are busy */
#define LIMIT_NAMELESS_TICKS 60u        /* seconds that a removed file may stay without growth: then it is given up */

/* model, per target */
#define LIMIT_BANDS 20000u              /* bands of one run: later ones are counted as left out */
#define LIMIT_FULL_BANDS 1000u          /* bands with a history of their own; the others keep totals only */
#define LIMIT_INFO_TABLES 500000u       /* IPE entries: later ones are counted as left out */
#define LIMIT_COST_CENTRES 100000u      /* definitions: later ones are counted as left out */
#define LIMIT_STRING_BYTES (48u << 20)  /* all strings of one run: then as the three above */
#define LIMIT_STACKS 50000u             /* time profile: ticks of later stacks are counted as left out */
#define LIMIT_STACK_BYTES (16u << 20)   /* all stacks of bands, and of the time profile: later ones are left out */
#define LIMIT_TICKY 50000u              /* counters: later ones are left out */
#define LIMIT_NOTES 512u                /* newest notes kept for newcomers */
#define LIMIT_NOTE_TEXT_BYTES 2048u     /* one note's text: cut, its true size is kept */
#define LIMIT_CAPS 4096u                /* capabilities: events of others go without one */
#define LIMIT_DAMAGES 16u               /* newest damaged places kept for newcomers */

/* trend */
#define LIMIT_RESOLUTION_LEAST_NS UINT64_C(100000000) /* step in which growth is judged: others are refused */
#define LIMIT_RESOLUTION_MOST_NS UINT64_C(3600000000000)

/* publish */
#define LIMIT_SAMPLES_PER_UPDATE 512u   /* samples of one series in one message: a full one is sent early */
#define LIMIT_COLLECTIONS_PER_UPDATE 256u
#define LIMIT_BANDS_PER_UPDATE 256u     /* band definitions in one message: more go in further messages */
#define LIMIT_ROWS_PER_UPDATE LIMIT_BANDS_PER_UPDATE /* stacks of the time profile, ticky counters: likewise */
#define LIMIT_STACK_ENTRIES_PER_UPDATE 4096u /* cost centres of all its stacks: likewise */
#define LIMIT_EVENTS_PER_UPDATE 2048u   /* --events: events, or their texts, in one message: a full one is sent */
#define LIMIT_EVENT_NUMBERS_PER_UPDATE 16384u /* likewise: fields that are numbers */
#define LIMIT_EVENT_TEXT_BYTES_PER_UPDATE 262144u /* likewise: bytes of the fields that are texts */
#define LIMIT_TRENDS_PER_UPDATE 64u     /* trends in one message: more go in further messages */
#define LIMIT_NOTES_PER_UPDATE 256u     /* likewise; well below LIMIT_NOTES: all are still kept when it is full */
#define LIMIT_ENCODER_KEEP_BYTES ((size_t)256 * 1024) /* per target, between messages: above that it is freed */
#define LIMIT_HISTORY_POINTS 10000u     /* in one reply: the step is widened to fit */
#define LIMIT_TARGETS 1000u             /* of one daemon: add is refused */
#define LIMIT_REQUEST_BYTES 65536u      /* one request: refused with an error; twice that: its connection is closed */
#define LIMIT_SUBSCRIPTION_BYTES 1024   /* one subscription: its connection is closed */
#define LIMIT_MESSAGES_PER_TURN 64u     /* taken from one socket in one turn of the loop: then the others get theirs */
#define LIMIT_UPDATES_WAITING_BYTES ((size_t)8 << 20) /* for slow subscribers: larger updates are left out then */
#define LIMIT_SMALL_UPDATE_BYTES 1024u  /* up to this they go on: bounded by the high-water mark */
#define LIMIT_REQUESTS_WAITING 1000     /* per client, in ZeroMQ's queue: the client waits */
#define LIMIT_REPLIES_WAITING 65536     /* messages per client: the rest of the answer is dropped and counted */
#define LIMIT_REPLIES_WAITING_BYTES ((size_t)64 << 20) /* over all clients: likewise */

/* wire: what one message from outside may hold; beyond it the message is refused */
#define LIMIT_MESSAGE_BYTES (16u << 20)         /* one update or reply as it is sent */
#define LIMIT_UNPACKED_BYTES (128u << 20)       /* the same in memory: tiny parts grow when unpacked */
#define LIMIT_TARGET_NAME_BYTES 64u             /* a target's name */
#define LIMIT_TEXT_BYTES 65536u                 /* any text field: a label, an argument, a URI */
#define LIMIT_WIRE_ID (1u << 20)                /* a dense id (band, stack): readers index arrays by it */

/* subscriber */
#define LIMIT_HELD_MESSAGES 100000u             /* live updates kept while a snapshot is under way ... */
#define LIMIT_HELD_BYTES (64u << 20)            /* ... and their size as sent: beyond, all of them count as lost */
#define LIMIT_HEALED_TARGETS 256u               /* targets healed by one snapshot request; the others come next */

#endif
