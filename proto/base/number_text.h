/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * number_text.h - a number as people read it (heapwatch/text.h), in a buffer without a name: its text is valid until
 * the end of the block that has the expression.
 */
#pragma once

#include "heapwatch/text.h"

#define BYTES_TEXT(bytes)    hw_bytes_text((char[HW_NUMBER_MAX]){ "" }, HW_NUMBER_MAX, (double)(bytes))
#define DURATION_TEXT(ns)    hw_duration_text((char[HW_NUMBER_MAX]){ "" }, HW_NUMBER_MAX, (double)(ns))
#define SHARE_TEXT(fraction) hw_share_text((char[HW_NUMBER_MAX]){ "" }, HW_NUMBER_MAX, (double)(fraction))
#define COUNT_TEXT(count)    hw_count_text((char[HW_NUMBER_MAX]){ "" }, HW_NUMBER_MAX, count)
#define TIME_TEXT(wall_ns)   hw_time_text((char[HW_NUMBER_MAX]){ "" }, HW_NUMBER_MAX, wall_ns)
