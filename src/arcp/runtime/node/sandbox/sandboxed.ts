// biome-ignore-all lint/correctness/noNodejsModules: processes are of Node
/** Tools in their own processes (spec 003, "Permissions": "Runtimes SHOULD: isolate execution, restrict network access"). */
import { Semaphore } from '../../../../async/semaphore.js';
import { assertDurations } from '../../../protocol/durations.js';
import type { Handler } from '../../types.js';
import { runCall } from './call.js';
import { pathOf, permissionFlag } from './process.js';
import type { SandboxOptions, SandboxSettings } from './types.js';

/** Variables that override the flags of Node. */
const OPENING = /^(NODE_OPTIONS|NODE_REPL_EXTERNAL_MODULE)$/i;

/**
 * A handler that carries out each call in a Node process of its own, which ends with it: the function that a module exports by default is
 * given the input and a `SandboxContext`. Input, result, and all that is said in between are JSON. What it prints is logged.
 *
 * What the process cannot do: read and write files but those that are named, its module, and an empty working folder of its own, which
 * goes with it; start programs and threads, load native code, be debugged (all of this is Node's permission model); open
 * databases of Node's own, which are left out; read the environment of the runtime, or its memory.
 *
 * What is **not** isolated:
 * - The network. Where Node's permission model leaves it open (before Node 25), the functions for it, and for signals to other processes, are
 *   replaced by some that throw: this keeps mistakes and careless packages away, and nobody who wants to get around it. `wrapper` can do better.
 * - The user and the kernel. It runs as the same user on the same kernel; a hole in Node or in the kernel opens it. Node itself says that its
 *   permission model does not protect against malicious code.
 * - Links in what it may read and write, which are followed out of there.
 * - The processor, disk space, and memory outside of the heap: none is bounded but by `timeoutMs`. Where the runtime is killed while the tool
 *   computes without a pause, the tool goes on until it pauses.
 * - What it is given: `broker` and `tools` run in the runtime, behind their permissions.
 *
 * @param module a file of JavaScript, as Node runs it
 * @throws ArcpError `UNIMPLEMENTED` where this platform has no such processes: nothing is ever run without
 * @throws TypeError on options that are none
 * @example
 * runtime.tool('count', { durable: true }, sandboxed(new URL('count.mjs', import.meta.url), { read: ['/srv/data'] }));
 * // count.mjs
 * export default async ({ file }, { progress }) => (await readFile(file, 'utf8')).split('\n').length;
 */
export function sandboxed(module: string | URL, options: SandboxOptions = {}): Handler {
  const settings = settingsOf(module, options);
  const processes = new Semaphore(settings.concurrency);
  return async (input, context) => {
    const release = await processes.acquire(context.signal);
    try {
      return await runCall(settings, input, context);
    } finally {
      release();
    }
  };
}

function settingsOf(module: string | URL, options: SandboxOptions): SandboxSettings {
  const { memoryMb = 256, killGraceMs = 1000, concurrency = 8, timeoutMs, env = [], wrapper = [] } = options;
  const { maxMessageBytes = 32 * 1024 * 1024, maxOutputBytes = 1024 * 1024, read = [], write = [] } = options;
  const { broker, tools = [] } = options;
  const numbers = { memoryMb, concurrency, maxMessageBytes, maxOutputBytes };
  for (const [name, least] of Object.entries(LEAST)) {
    const value = numbers[name as keyof typeof numbers];
    if (!Number.isFinite(value) || value < least)
      throw new TypeError(`${name} must be a finite number of at least ${least}; got ${value}`);
  }
  assertDurations({ timeoutMs });
  assertDurations({ killGraceMs }, 0);
  const opening = env.find((name) => OPENING.test(name));
  if (opening !== undefined) throw new TypeError(`A sandbox is not given ${opening}, which could open it`);
  const flag = permissionFlag();
  return { module: pathOf(module), flag, broker, tools, ...numbers, timeoutMs, killGraceMs, env, wrapper, read, write };
}

const LEAST = { memoryMb: 16, concurrency: 1, maxMessageBytes: 1024, maxOutputBytes: 0 } as const;
