#!/bin/bash
# libzmq 4.3.5 (npm zeromq 6.5.0): a DEALER that sets its identity comes back to a ROUTER before that has seen the end of
# its first connection, as after a change of networks, or is started twice. What becomes of the second connection?
# Expected: it is refused, as the manual says of ZMQ_ROUTER_HANDOVER (without it the ROUTER rejects clients with an
# identity that is in use), and is tried again, until the first is gone. But it stays: the client has the event of a
# handshake and no other, what it sends is taken and waits in the ROUTER's queue, where nothing reads it, also when the
# first has ended; a third, made then, is heard, and beside it the second waits on. Only when the queues of both ends
# are full does send block. So handshake and send tell nothing: a client that has an identity needs answers to know that
# it is heard, and a new socket if it is not. With ZMQ_ROUTER_HANDOVER the newest is heard, and the one before is
# left in that state, without a word.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit zeromq@6.5.0
cat > twice.mjs <<'J'
import * as zmq from 'zeromq'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function client(endpoint, seen) {
        const dealer = new zmq.Dealer({ routingId: 'console', linger: 0, sendTimeout: 2000 })
        for (const event of ['handshake', 'disconnect', 'connect:retry']) dealer.events.on(event, () => seen.push(event))
        dealer.connect(endpoint)
        return dealer
}

// How many of so many messages the socket takes, and how many arrive
async function heard(router, dealer, times) {
        let sent = 0
        let arrived = 0
        const late = (error) => {
                if (error.code !== 'EAGAIN') throw error
        }
        const sending = async () => {
                for (; sent < times; sent++) await dealer.send('x'.repeat(1000))
        }
        const receiving = async () => {
                for (;; arrived++) await router.receive()
        }
        await Promise.all([sending().catch(late), receiving().catch(late)])
        return `${sent < times ? 'some' : sent} sent, ${arrived} heard`
}

console.log(`libzmq ${zmq.version}`)
for (const handover of [false, true]) {
        const router = new zmq.Router({ handover, receiveTimeout: 3000 })
        await router.bind('tcp://127.0.0.1:*')
        const seen = []
        const first = client(router.lastEndpoint, [])
        console.log(`handover ${handover}, first: ${await heard(router, first, 3)}`)
        const second = client(router.lastEndpoint, seen)
        console.log(`second: ${await heard(router, second, 3)}`)
        first.close()
        await pause(2000)
        console.log(`second, when the first has ended: ${await heard(router, second, 1000)}`)
        const third = client(router.lastEndpoint, [])
        console.log(`third: ${await heard(router, third, 3)}`)
        console.log(`second, 100,000 more: ${await heard(router, second, 100000)}; its events: ${seen.join()}`)
        for (const socket of [router, second, third]) socket.close()
}
process.exit(0)
J
timeout 200 node twice.mjs | tee seen
diff - seen <<'E' || { echo "changed: expected one of two to be heard, and the other one to stay connected"; exit 1; }
libzmq 4.3.5
handover false, first: 3 sent, 3 heard
second: 3 sent, 0 heard
second, when the first has ended: 1000 sent, 0 heard
third: 3 sent, 3 heard
second, 100,000 more: some sent, 0 heard; its events: handshake
handover true, first: 3 sent, 3 heard
second: 3 sent, 3 heard
second, when the first has ended: 1000 sent, 1000 heard
third: 3 sent, 3 heard
second, 100,000 more: some sent, 0 heard; its events: handshake
E
echo "as seen: who is not heard stays connected"
