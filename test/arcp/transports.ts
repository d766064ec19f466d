/** The transports of ARCP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';
import { dialOf } from '../../src/arcp/client/index.js';
import {
  fifoPair,
  listenFifo,
  listenHttp,
  listenUnix,
  listenWebSocket,
  type Runtime,
} from '../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../src/channels/memory.js';
import type { Serve } from '../examples/arcp/stage.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-arcp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
/** Returns the path of a new file. */
export const file = (): string => path.join(folder, String(++files));

/** A program that connects its standard streams to a socket. */
const BRIDGE = "const s=require('net').connect(process.argv[1]);process.stdin.pipe(s).pipe(process.stdout)";

/** Serves a runtime over each transport. The name of one that is missing on this machine ends with ` (skipped: REASON)`. */
export const TRANSPORTS: Readonly<Record<string, Serve>> = {
  memory: async (runtime) => {
    const dial = (): ReturnType<typeof memoryChannels>[0] => {
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    };
    return { dial, close: async () => {} };
  },
  'a WebSocket': async (runtime) => {
    const { url, close } = await listenWebSocket(runtime, { port: 0 });
    return { dial: dialOf(url), close };
  },
  'HTTP/2': async (runtime) => {
    const { url, close } = await listenHttp(runtime, { port: 0 });
    return { dial: dialOf(url.replace('http:', 'http2:')), close };
  },
  // Each connection takes several round trips.
  'server-sent events and POST': Object.assign(
    async (runtime: Runtime) => {
      const { url, close } = await listenHttp(runtime, { port: 0 });
      return { dial: dialOf(`sse:${url}`), close };
    },
    { leaseMs: 1000 },
  ),
  'a Unix-domain socket': async (runtime) => {
    const place = file();
    const { close } = await listenUnix(runtime, place);
    return { dial: dialOf(`unix:${place}`), close };
  },
  TCP: async (runtime) => {
    const { address, close } = await listenUnix(runtime, { port: 0 });
    return { dial: dialOf(`tcp://127.0.0.1:${(address as { readonly port: number }).port}`), close };
  },
  'two named pipes': async (runtime) => {
    const place = file();
    const { close } = await listenFifo(runtime, fifoPair(place));
    return { dial: dialOf(`pipe:${place}`), close };
  },
  // Programs start slowly.
  'standard streams': Object.assign(
    async (runtime: Runtime) => {
      const place = file();
      const { close } = await listenUnix(runtime, place);
      return { dial: dialOf({ command: process.execPath, args: ['-e', BRIDGE, place] }), close };
    },
    { leaseMs: 2000 },
  ),
};
