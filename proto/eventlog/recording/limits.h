/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what a recording may hold; a reader accepts no larger number. */
#pragma once

#define FRAME_RAW_MAX     (1u << 20) /* bytes of eventlog in one frame */
#define SEGMENTS_MAX      999999u    /* of one run: six digits in a file's name */
#define RECORDED_RUNS_MAX 10000u     /* of all targets together that are listed */
#define RUN_NAME_MAX      40u        /* bytes; see run_name_make */
#define RECORDED_PATH_MAX 4096u
