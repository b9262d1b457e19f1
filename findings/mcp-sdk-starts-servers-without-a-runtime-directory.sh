#!/bin/bash
# @modelcontextprotocol/sdk 1.32.2: a client that starts a server on stdio does not hand on its environment but for HOME,
# LOGNAME, PATH, SHELL, TERM and USER. So a server that finds a daemon by XDG_RUNTIME_DIR, as services of a user do, does
# not find it when an assistant starts it, though it does from the same shell; nor does it get LANG or TZ.
set -eu
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

npm install --silent --no-save @modelcontextprotocol/sdk@1.32.2
cat > server.mjs <<'J'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
const server = new McpServer({ name: 'environment', version: '1' });
server.tool('names', async () => ({ content: [{ type: 'text', text: Object.keys(process.env).sort().join(' ') }] }));
await server.connect(new StdioServerTransport());
J
cat > client.mjs <<'J'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const client = new Client({ name: 'asks', version: '1' });
await client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.mjs'] }));
console.log((await client.callTool({ name: 'names' })).content[0].text);
await client.close();
J
names=$(XDG_RUNTIME_DIR=/run/user/1000 TZ=Europe/Berlin LANG=C.UTF-8 HOME=$PWD node client.mjs)
echo "the server's environment: $names"
case " $names " in *" HOME "*) ;; *) echo "changed: HOME is not handed on"; exit 1 ;; esac
case " $names " in *" XDG_RUNTIME_DIR "* | *" TZ "* | *" LANG "*) echo "changed: more is handed on"; exit 1 ;; esac
echo "as seen: neither XDG_RUNTIME_DIR nor TZ nor LANG reaches the server"
