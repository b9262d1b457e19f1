/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what the model keeps of one target. */
#pragma once

#define LIMIT_FULL_BANDS      1000u       /* bands with a history of their own; the others keep totals only */
#define LIMIT_INFO_TABLES     500000u     /* IPE entries: later ones are counted as left out */
#define LIMIT_COST_CENTRES    100000u     /* definitions: later ones are counted as left out */
#define LIMIT_STACK_SYMBOLS   200000u     /* frames of sampled stacks, strings and places that they refer to */
#define LIMIT_STACK_PARTS     8u          /* sampled stacks of which a part is still to come: the oldest is left out */
#define LIMIT_SAMPLED_THREADS 64u         /* whose samples are told apart; those of others are together */
#define LIMIT_STRING_BYTES    (48u << 20) /* all strings of one run; beyond it as the three above */
#define LIMIT_STACK_BYTES     (16u << 20) /* all stacks of bands, and of the time profile: later ones are left out */
#define LIMIT_NOTES           512u        /* newest notes kept for late joiners */
#define LIMIT_LANDMARKS       128u        /* notes kept in addition, to explain when growth began */
#define LIMIT_LANDMARK_BYTES  256u        /* of such a note's text */
#define LIMIT_NOTE_TEXT_BYTES 2048u       /* one note's text: longer ones are cut, their size is kept */
