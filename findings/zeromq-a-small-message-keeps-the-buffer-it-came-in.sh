#!/bin/bash
# libzmq 4.3.4: what does a message take that is kept, as the last state of each target is? Expected: its bytes and some
# tens more. But a message of 33 bytes or more is not copied when it is received: it refers to the buffer that was read into,
# of 8 KiB and room for the bookkeeping of as many messages as might fit in, 18 KiB by malloc, and holds all of it until
# it is closed (zero copy, on unless the context is told otherwise). If messages come one by one, each has a buffer
# of its own: 10,000 messages of 33 bytes are 182 MB by malloc's count, and 80 MB resident. Messages that come in a burst
# share their buffers, so that a test which sends all and then receives all shows next to nothing. Who keeps a message
# copies it into a new one and closes the one received. The manual of zmq_msg_recv has no word of it.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

# In a folder of its own, but for what libzmq itself needs, which is the machine's.
apt-get -qq -o APT::Sandbox::User=root download libzmq5=4.3.4-6 libzmq3-dev=4.3.4-6
for deb in *.deb; do dpkg -x "$deb" root; done
lib=$PWD/root/usr/lib/x86_64-linux-gnu
cat > keep.c <<'C'
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { MESSAGES = 10000 };

static size_t in_use(void)
{
        struct mallinfo2 all = mallinfo2();

        return all.uordblks + all.hblkhd;
}

/* keep SIZE HOW: receives messages one by one, copied or as they are, or all after all were sent, and keeps them. */
int main(int argc, char **argv)
{
        static zmq_msg_t kept[MESSAGES];
        static char bytes[4096];
        size_t size = argc > 2 ? (size_t)atoi(argv[1]) : 0, before;
        int burst = !strcmp(argv[2], "burst"), copies = !strcmp(argv[2], "copied"), none = 0;
        void *context = zmq_ctx_new(), *from = zmq_socket(context, ZMQ_PUSH), *to = zmq_socket(context, ZMQ_PULL);

        zmq_setsockopt(from, ZMQ_SNDHWM, &none, sizeof(none));
        zmq_setsockopt(to, ZMQ_RCVHWM, &none, sizeof(none));
        if (zmq_bind(to, "ipc://socket") || zmq_connect(from, "ipc://socket"))
                return 1;
        before = in_use();
        for (int i = 0; burst && i < MESSAGES; i++)
                zmq_send(from, bytes, size, 0);
        for (int i = 0; i < MESSAGES; i++) {
                zmq_msg_t copy;

                if (!burst)
                        zmq_send(from, bytes, size, 0);
                zmq_msg_init(&kept[i]);
                if (zmq_msg_recv(&kept[i], to, 0) != (int)size)
                        return 1;
                if (!copies)
                        continue;
                zmq_msg_init_size(&copy, size);
                memcpy(zmq_msg_data(&copy), zmq_msg_data(&kept[i]), size);
                zmq_msg_move(&kept[i], &copy);
        }
        printf("%zu bytes, %s: %zu\n", size, argv[2], (in_use() - before) / MESSAGES);
        return 0;
}
C
gcc -I root/usr/include -o keep keep.c -L "$lib" -l:libzmq.so.5
echo "size of a message, how it came, bytes by malloc for each that is kept:"
for how in "32 kept" "33 kept" "1000 kept" "33 copied" "33 burst"; do
        # shellcheck disable=SC2086 # two arguments
        LD_LIBRARY_PATH=$lib ./keep $how
done | tee seen
awk '{ each[NR] = $NF } END { exit !(NR == 5 && each[1] < 100 && each[2] > 16000 && each[3] > 16000 &&
                                     each[4] < 200 && each[5] < 200) }' seen ||
        { echo "changed: expected below 100, twice above 16000, and twice below 200"; exit 1; }
echo "as seen: what is kept of a message is 8 KiB and more, if it came alone"
