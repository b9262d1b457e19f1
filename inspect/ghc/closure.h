/* SPDX-License-Identifier: BSD-3-Clause */
/* closure.h - types of closures, as in rts/storage/ClosureTypes.h: the same numbers from GHC 9.0 on. */
#pragma once

#include <stdbool.h>

enum closure_type {
        CONSTR = 1,
        CONSTR_0_2 = 6,
        CONSTR_NOCAF = 7,
        FUN = 8,
        FUN_1_0 = 9,
        FUN_0_2 = 13,
        FUN_STATIC = 14,
        THUNK = 15,
        THUNK_1_0 = 16,
        THUNK_0_2 = 20,
        THUNK_STATIC = 21,
        THUNK_SELECTOR = 22,
        BCO = 23,
        AP = 24,
        PAP = 25,
        AP_STACK = 26,
        IND = 27,
        IND_STATIC = 28,
        RET_BCO = 29,
        RET_SMALL = 30,
        RET_BIG = 31,
        RET_FUN = 32,
        UPDATE_FRAME = 33,
        CATCH_FRAME = 34,
        UNDERFLOW_FRAME = 35,
        STOP_FRAME = 36,
        BLOCKING_QUEUE = 37,
        BLACKHOLE = 38,
        MVAR_CLEAN = 39,
        MVAR_DIRTY = 40,
        TVAR = 41,
        ARR_WORDS = 42,
        MUT_ARR_PTRS_CLEAN = 43,
        MUT_ARR_PTRS_FROZEN_CLEAN = 46,
        MUT_VAR_CLEAN = 47,
        MUT_VAR_DIRTY = 48,
        WEAK = 49,
        PRIM = 50,
        MUT_PRIM = 51,
        TSO = 52,
        STACK = 53,
        TREC_CHUNK = 54,
        ATOMICALLY_FRAME = 55,
        CATCH_RETRY_FRAME = 56,
        CATCH_STM_FRAME = 57,
        WHITEHOLE = 58,
        SMALL_MUT_ARR_PTRS_CLEAN = 59,
        SMALL_MUT_ARR_PTRS_FROZEN_CLEAN = 62,
        COMPACT_NFDATA = 63,
        CONTINUATION = 64,
        ANN_FRAME = 65,
        CLOSURE_TYPES = 66
};

#define TREC_ENTRIES 16u /* of a TREC_CHUNK */

/* "ARR_WORDS", as a heap profile by closure type has it; "?" for no type. */
const char *closure_type_name(unsigned type);

static inline bool closure_is_constructor(unsigned type)
{
        return type >= CONSTR && type <= CONSTR_NOCAF;
}

static inline bool closure_is_function(unsigned type)
{
        return type >= FUN && type <= FUN_STATIC;
}

static inline bool closure_is_thunk(unsigned type)
{
        return type >= THUNK && type <= THUNK_SELECTOR;
}

/* Of pointers. */
static inline bool closure_is_array(unsigned type)
{
        return type >= MUT_ARR_PTRS_CLEAN && type <= MUT_ARR_PTRS_FROZEN_CLEAN;
}

static inline bool closure_is_small_array(unsigned type)
{
        return type >= SMALL_MUT_ARR_PTRS_CLEAN && type <= SMALL_MUT_ARR_PTRS_FROZEN_CLEAN;
}

/* A frame of a stack. */
static inline bool closure_is_frame(unsigned type)
{
        return (type >= RET_BCO && type <= STOP_FRAME) || (type >= ATOMICALLY_FRAME && type <= CATCH_STM_FRAME) ||
               type == ANN_FRAME;
}
