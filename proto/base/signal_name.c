/* SPDX-License-Identifier: BSD-3-Clause */
/* sigabbrev_np(3), which glibc has from 2.32 on. */
#include "proto/base/run_life.h"

#include <signal.h>
#include <stddef.h>

#include "proto/base/array.h"

const char *signal_name(int signal)
{
#define NAME(of) [SIG##of] = #of
        static const char *const names[] = { NAME(HUP),   NAME(INT),    NAME(QUIT), NAME(ILL),   NAME(TRAP), NAME(ABRT),
                                             NAME(BUS),   NAME(FPE),    NAME(KILL), NAME(USR1),  NAME(SEGV), NAME(USR2),
                                             NAME(PIPE),  NAME(ALRM),   NAME(TERM), NAME(CHLD),  NAME(CONT), NAME(STOP),
                                             NAME(TSTP),  NAME(TTIN),   NAME(TTOU), NAME(URG),   NAME(XCPU), NAME(XFSZ),
                                             NAME(PROF),  NAME(VTALRM), NAME(POLL), NAME(WINCH), NAME(SYS),  NAME(PWR),
                                             NAME(STKFLT) };
#undef NAME
        return signal > 0 && (size_t)signal < ARRAY_SIZE(names) ? names[signal] : NULL;
}
