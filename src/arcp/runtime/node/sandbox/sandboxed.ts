// biome-ignore-all lint/correctness/noNodejsModules: processes need Node
/** Sandboxes: tools in their own processes (spec 003, "Permissions": "Runtimes SHOULD: isolate execution, restrict network access"). */

import { assertDurations } from '../../../../async/durations.js';
import { Semaphore } from '../../../../async/semaphore.js';
import type { Handler } from '../../types.js';
import { runCall } from './call.js';
import { pathOf, permissionFlag } from './process.js';
import type { SandboxOptions, SandboxSettings } from './types.js';

/** The environment variables that override the flags of Node. */
const UNSAFE = /^(NODE_OPTIONS|NODE_REPL_EXTERNAL_MODULE)$/i;

/**
 * Creates a handler that executes each call in its own Node process, which ends with the call. The default export of the module receives the
 * input and a `SandboxContext`. Input, result and messages are JSON, and output to stdout and stderr is logged.
 *
 * The permission model of Node prevents the process from accessing files other than those listed, its module and an empty working folder; from
 * starting programs and threads; from loading native code; and from being debugged. `node:sqlite` is disabled. The process does not share the
 * environment or memory of the runtime.
 *
 * The following are **not** isolated:
 * - The network, if the permission model does not restrict it (before Node 25). Functions for the network, and for signals to other processes,
 *   throw. That stops mistakes and careless packages, but not malicious code. A `wrapper` can remove the network.
 * - The user and the kernel. The process runs as the same user, and a vulnerability of Node or of the kernel is a way out. Node states that its
 *   permission model does not protect against malicious code.
 * - Links in `read` and `write`, which are followed.
 * - The processor, disk space, and memory outside the heap, which only `timeoutMs` limits. If the runtime is killed while the tool computes
 *   without a pause, the tool continues until it pauses.
 * - `broker` and `tools`, which run in the runtime, subject to permissions.
 *
 * @param module the path or URL of a JavaScript module
 * @throws ArcpError `UNIMPLEMENTED` if the platform has no permission model; a tool never runs without it
 * @throws TypeError if an option is invalid
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
  for (const [name, least] of Object.entries(MINIMUMS)) {
    const value = numbers[name as keyof typeof numbers];
    if (!Number.isFinite(value) || value < least)
      throw new TypeError(`${name} must be a finite number of at least ${least}; got ${value}`);
  }
  assertDurations({ timeoutMs });
  assertDurations({ killGraceMs }, 0);
  const unsafe = env.find((name) => UNSAFE.test(name));
  if (unsafe !== undefined) throw new TypeError(`env must not contain ${unsafe}, which could disable the sandbox`);
  const flag = permissionFlag();
  return { module: pathOf(module), flag, broker, tools, ...numbers, timeoutMs, killGraceMs, env, wrapper, read, write };
}

const MINIMUMS = { memoryMb: 16, concurrency: 1, maxMessageBytes: 1024, maxOutputBytes: 0 } as const;
