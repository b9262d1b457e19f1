#!/bin/bash
# tail 2.2.6 (npm): a page or a collector in Node follows a log, which is renamed and begun anew, as logrotate does. Its
# option follow, which is on by default, is to be like `tail -F`: what is read of the new file? Expected: all of it, a second
# later. But if the log was named without a folder ("run.log"), nothing of it, ever: the name in the event of fs.watch is
# compared with the name as it was given, and where both are the same it is no event. With a folder ("./run.log") it
# goes on where it was in the old file, and where the new one is shorter, at its end when it has next grown: the first lines
# of each file are lost, those of the second that it waits among them. A log that is truncated and written to at once
# loses its first lines for the same reason. No event "error" in any of these; GNU tail has all lines.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-fund --no-audit tail@2.2.6
cat > follow.cjs <<'J'
const { spawn } = require('child_process')
const { appendFileSync, renameSync, truncateSync, writeFileSync } = require('fs')
const { Tail } = require('tail')

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const log = 'run.log'

const followers = {
        'GNU tail -F': (line) => {
                const child = spawn('tail', ['-n', '0', '-F', log], { stdio: ['ignore', 'pipe', 'ignore'] })
                child.stdout.on('data', (text) => String(text).trimEnd().split('\n').forEach(line))
                return () => child.kill()
        }
}
for (const name of ['run.log', './run.log'])
        followers[`tail of npm, ${name}`] = (line) => {
                const tail = new Tail(name)
                tail.on('line', line)
                tail.on('error', (error) => line(`error: ${error}`))
                return () => tail.unwatch()
        }

const changes = {
        renamed: () => {
                renameSync(log, 'run.log.1')
                writeFileSync(log, 'new 1\n')
        },
        truncated: () => {
                truncateSync(log)
                appendFileSync(log, 'new 1\n')
        }
}

async function run() {
        for (const [change, begin] of Object.entries(changes))
                for (const [who, follow] of Object.entries(followers)) {
                        writeFileSync(log, 'a line of the time before\n'.repeat(100))
                        const lines = []
                        const end = follow((line) => lines.push(line))
                        await pause(1500)
                        appendFileSync(log, 'old\n')
                        while (!lines.length) await pause(100)
                        begin()
                        for (let i = 2; i <= 4; i++) {
                                await pause(3000)
                                appendFileSync(log, `new ${i}\n`)
                        }
                        await pause(3000)
                        end()
                        console.log(`${change}, ${who}: ${lines.join(', ')}`)
                }
        process.exit(0)
}
run()
J
timeout 300 node follow.cjs | tee seen
diff - seen <<'E' || { echo "changed: expected that the first lines are lost, or all"; exit 1; }
renamed, GNU tail -F: old, new 1, new 2, new 3, new 4
renamed, tail of npm, run.log: old
renamed, tail of npm, ./run.log: old, new 3, new 4
truncated, GNU tail -F: old, new 1, new 2, new 3, new 4
truncated, tail of npm, run.log: old, new 2, new 3, new 4
truncated, tail of npm, ./run.log: old, new 2, new 3, new 4
E
echo "as seen: a log begun anew is read from the middle, or not at all"
