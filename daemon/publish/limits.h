/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - how large one message may become, and what is kept for late joiners. */
#pragma once

#define LIMIT_DAMAGES                     16u  /* newest damaged places kept for late joiners */
#define LIMIT_SAMPLES_PER_UPDATE          512u /* samples of one series in one message: a full one is sent early */
#define LIMIT_COLLECTIONS_PER_UPDATE      256u
#define LIMIT_BANDS_PER_UPDATE            256u /* band definitions in one message: more go in further messages */
#define LIMIT_ROWS_PER_UPDATE             LIMIT_BANDS_PER_UPDATE /* the same for the time profile and ticky counters */
#define LIMIT_ROW_BYTES_PER_UPDATE        (512u << 10)      /* of bands, stacks, ...: more go in further messages */
#define LIMIT_ALERT_BYTES_PER_UPDATE      ((size_t)1 << 20) /* all alerts of a target: the least severe are left out */
#define LIMIT_PUBLISHED_TEXT_BYTES        4096u   /* of the program; longer ones are cut, size and hash are added */
#define LIMIT_EVENTS_PER_UPDATE           2048u   /* --events: events or texts in one message: a full one is sent */
#define LIMIT_EVENT_NUMBERS_PER_UPDATE    16384u  /* likewise: fields that are numbers */
#define LIMIT_EVENT_TEXT_BYTES_PER_UPDATE 262144u /* likewise: bytes of fields that are texts */
#define LIMIT_TRENDS_PER_UPDATE           64u     /* trends in one message: more go in further messages */
#define LIMIT_NOTES_PER_UPDATE            256u    /* likewise; well below LIMIT_NOTES, so that all are still kept */
#define LIMIT_ENCODER_KEEP_BYTES          ((size_t)256 * 1024) /* kept between messages: more is freed */
#define LIMIT_HISTORY_POINTS              10000u               /* in one reply: the step is widened to fit */
