/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: notes may hold anything: published as valid UTF-8, control characters included; displays escape these. */
#include "daemon/publish/encode.h"

Hw__Note *encode_note(struct encoder *e, const struct note *note)
{
        Hw__Note *out = encoder_message(e, &hw__note__descriptor);

        if (!out)
                return NULL;
        PUT(out, number, note->number);
        PUT(out, time_ns, note->time_ns);
        PUT(out, what, (Hw__Note__What)note->what);
        if (note->cap != HW_CAP_NONE)
                PUT(out, capability, note->cap);
        if (note->what == NOTE_THREAD_LABEL)
                PUT(out, thread, note->thread);
        if (note->what != NOTE_BINARY)
                out->text = encoder_sized_text(e, note->text, note->text_size);
        PUT(out, size_bytes, note->size_bytes);
        return out;
}
