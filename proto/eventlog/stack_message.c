/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/stack_message.h"

#include "proto/base/utf8.h"
#include "proto/base/bytes.h"

#define TAG_BYTES   2u
#define TAG_VERSION 0xffc0u
#define TAG_LAST    0xffcau
#define TAG_PART    0xffcbu
#define TAG_STRING  0xffccu
#define TAG_PLACE   0xffcdu

#define HEAD_OLD      (TAG_BYTES + 4 + 4 + 2) /* of a part: capability, thread, number of frames (0.4) */
#define HEAD_NEW      (TAG_BYTES + 4 + 8 + 2) /* the thread has 64 bits (0.5) */
#define HEAD_STRING   (TAG_BYTES + 8 + 2)
#define PLACE_BYTES   (TAG_BYTES + 8 + 4 + 4 + 8)
#define VERSION_BYTES (TAG_BYTES + 1)

/* Of a frame of that kind, which is its first byte; 0: there is no such kind. */
static size_t frame_size(uint8_t kind)
{
        return kind == STACK_FRAME_CODE || kind == STACK_FRAME_TEXT ? 1 + 8
               : kind == STACK_FRAME_PLACED                         ? 1 + 8 + 8
                                                                    : 0;
}

/* Whether `bytes` are exactly n frames. */
static bool are_frames(const uint8_t *bytes, size_t size, uint32_t n)
{
        size_t at = 0;

        for (; n > 0; n--) {
                const size_t frame = at < size ? frame_size(bytes[at]) : 0;
                if (!frame || frame > size - at)
                        return false;
                at += frame;
        }
        return at == size;
}

static bool read_part(const uint8_t *p, size_t size, struct stack_message *m)
{
        size_t head = HEAD_NEW;

        if (size < head || p[6] || p[7] || p[8] || p[9] || !are_frames(p + head, size - head, be16(p + head - 2)))
                head = HEAD_OLD;
        if (size < head || !be32(p + head - 6) || !are_frames(p + head, size - head, be16(p + head - 2)))
                return false; /* no thread has the number 0 */
        m->capability = be32(p + TAG_BYTES);
        m->thread = head == HEAD_NEW ? be64(p + 6) : be32(p + 6);
        m->bytes = p + head;
        m->size = size - head;
        return true;
}

/* Whether `bytes` are UTF-8 of that many characters: 0.4 counts them, 0.5 bytes. */
static bool are_characters(const uint8_t *bytes, size_t size, uint32_t n)
{
        uint32_t code;

        for (size_t at = 0, length; at < size; at += length, n--)
                if (n == 0 || !(length = utf8_decode(bytes + at, size - at, &code)))
                        return false;
        return n == 0;
}

bool stack_message_read(const void *payload, size_t size, struct stack_message *ret)
{
        const uint8_t *p = payload;

        *ret = (struct stack_message){ .kind = STACK_MESSAGE_VERSION };
        switch (size >= TAG_BYTES ? be16(p) : 0) {
        case TAG_VERSION:
                return size == VERSION_BYTES;
        case TAG_LAST:
                ret->kind = STACK_MESSAGE_LAST;
                return read_part(p, size, ret);
        case TAG_PART:
                ret->kind = STACK_MESSAGE_PART;
                return read_part(p, size, ret);
        case TAG_STRING:
                ret->kind = STACK_MESSAGE_STRING;
                if (size < HEAD_STRING)
                        return false;
                ret->id = be64(p + TAG_BYTES);
                ret->bytes = p + HEAD_STRING;
                ret->size = size - HEAD_STRING;
                const uint16_t n = be16(p + HEAD_STRING - 2);
                return ret->size == n || are_characters(ret->bytes, ret->size, n);
        case TAG_PLACE:
                ret->kind = STACK_MESSAGE_PLACE;
                if (size != PLACE_BYTES)
                        return false;
                ret->id = be64(p + TAG_BYTES);
                ret->line = be32(p + 10);
                ret->column = be32(p + 14);
                ret->file = be64(p + 18);
                return true;
        default:
                return false;
        }
}

bool stack_message_defines(const void *payload, size_t size)
{
        struct stack_message m;

        return stack_message_read(payload, size, &m) &&
               (m.kind == STACK_MESSAGE_STRING || m.kind == STACK_MESSAGE_PLACE);
}

bool stack_message_next(const struct stack_message *m, size_t *at, struct stack_message_frame *ret)
{
        if (*at >= m->size)
                return false;
        const uint8_t *p = m->bytes + *at;
        *ret = (struct stack_message_frame){ .kind = (enum stack_frame_kind)p[0], .id = be64(p + 1) };
        if (ret->kind == STACK_FRAME_PLACED)
                ret->place = be64(p + 9);
        *at += frame_size(p[0]);
        return true;
}
