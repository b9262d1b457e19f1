#!/bin/bash
# libzmq 4.3.5 (npm zeromq 6.5.0): heartbeats (ZMQ_HEARTBEAT_IVL, _TIMEOUT) tell a peer that is gone from one that has
# nothing to say. Does a process answer them that is only busy? Expected: yes, libzmq's own thread does, whatever the
# program is at; and so it is while there is room in the socket's queue. Once that is full (ZMQ_RCVHWM), the thread
# reads nothing more from the connection, pings neither: a subscriber that has not called receive for a while is
# closed as if its machine were dead, and what is published before it has connected anew is lost to it. So either the
# timeout is longer than a program's longest pause (a major collection, a debugger, SIGSTOP), or the queue has room
# for all that comes meanwhile.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit zeromq@6.5.0
cat > beats.mjs <<'J'
import * as zmq from 'zeromq'

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function closed(queue, messages) {
        const beats = { heartbeatInterval: 100, heartbeatTimeout: 1000 }
        const publisher = new zmq.Publisher({ ...beats, sendHighWaterMark: 100000 })
        let ends = 0
        publisher.events.on('disconnect', () => ends++)
        await publisher.bind('tcp://127.0.0.1:*')
        const subscriber = new zmq.Subscriber({ receiveHighWaterMark: queue })
        subscriber.subscribe()
        subscriber.connect(publisher.lastEndpoint)
        await pause(1000)
        for (let i = 0; i < messages; i++) await publisher.send('x'.repeat(100))
        await pause(5000) // nobody calls receive
        const seen = ends
        publisher.close()
        subscriber.close()
        return seen
}
console.log(`libzmq ${zmq.version}`)
for (const [queue, messages] of [[1000, 100], [10, 100], [10, 5]]) {
        const ends = await closed(queue, messages)
        console.log(`${messages} messages, none read, room for ${queue}: ${ends ? 'closed' : 'kept'}`)
}
process.exit(0)
J
node beats.mjs | tee seen
sed -n 's/.*: //p' seen | xargs | diff - <(echo kept closed kept) ||
    { echo "changed: expected that a full queue ends the connection"; exit 1; }
echo "as seen: who has no room left for messages is taken for dead"
