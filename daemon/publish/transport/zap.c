/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publish/transport/admission.h"

#include <string.h>
#include <zmq.h>

#include "proto/base/array.h"

enum { VERSION, ID, DOMAIN, ADDRESS, IDENTITY, MECHANISM, CREDENTIALS, FRAMES };

static bool is(const struct zap_frame *f, const char *text)
{
        return f->size == strlen(text) && !memcmp(f->data, text, f->size);
}

const char *zap_read(const struct zap_frame *frames, size_t n, struct zap_request *ret)
{
        *ret = (struct zap_request){ .id = NULL };
        if (n <= ID || frames[ID].size > ZAP_ID_MAX)
                return "has no id";
        ret->id = frames[ID].data;
        ret->n_id = frames[ID].size;
        if (!is(&frames[VERSION], "1.0"))
                return "is of another version of ZAP";
        if (n <= IDENTITY || frames[IDENTITY].size != sizeof(ret->connection))
                return "has no identity";
        memcpy(&ret->connection, frames[IDENTITY].data, sizeof(ret->connection));
        if (n <= MECHANISM || !is(&frames[MECHANISM], "CURVE"))
                return "is not by CURVE";
        if (n != FRAMES || frames[CREDENTIALS].size != KEY_BYTES)
                return "has no key";
        memcpy(ret->public, frames[CREDENTIALS].data, KEY_BYTES);
        return NULL;
}

static void answer(void *socket, zmq_msg_t *identity, const struct zap_request *r, bool welcome)
{
        /* Fails only if the peer has gone by now. */
        if (zmq_msg_send(identity, socket, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
                return;
        (void)zmq_send(socket, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, "1.0", 3, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, r->id, r->n_id, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, welcome ? "200" : "400", 3, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, welcome ? "OK" : "No access", welcome ? 2 : 9, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, "", 0, ZMQ_SNDMORE | ZMQ_DONTWAIT);
        (void)zmq_send(socket, "", 0, ZMQ_DONTWAIT);
}

int zap_serve(void *socket, zap_judge *judge, void *ctx)
{
        zmq_msg_t parts[2 + ZAP_FRAMES_MAX];
        size_t n = 0, received = 0;
        bool more = true;

        while (more) {
                zmq_msg_t part;
                (void)zmq_msg_init(&part);
                if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
                        (void)zmq_msg_close(&part);
                        break;
                }
                more = zmq_msg_more(&part);
                received++;
                if (n < ARRAY_SIZE(parts)) {
                        (void)zmq_msg_init(&parts[n]);
                        (void)zmq_msg_move(&parts[n++], &part);
                }
                (void)zmq_msg_close(&part);
        }
        if (!more && n >= 2) {
                /* parts: its identity, an empty frame, and the question. */
                struct zap_frame frames[ZAP_FRAMES_MAX];
                struct zap_request r;

                for (size_t i = 2; i < n; i++)
                        frames[i - 2] = (struct zap_frame){ zmq_msg_data(&parts[i]), zmq_msg_size(&parts[i]) };
                const char *wrong = zap_read(frames, n - 2, &r);
                const bool welcome = judge(ctx, &r, wrong);
                if (r.id)
                        answer(socket, &parts[0], &r, welcome && !wrong);
        }
        for (size_t i = 0; i < n; i++)
                (void)zmq_msg_close(&parts[i]);
        return received > 0;
}
