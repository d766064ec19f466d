import { createHash } from 'node:crypto';
import type { RuntimeOptions } from '../options.js';
import { Runtime } from '../runtime.js';

/**
 * Creates a runtime. It runs jobs after `start`, or after its first connection.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const runtime = createRuntime({ store: await sqliteStore('arcp.db') });
 * runtime.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
 * runtime.accept(channel);
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  // A command takes a digest, for which Node needs a quarter of the time.
  return new Runtime(options, { sha256Hex: (text) => createHash('sha256').update(text).digest('hex') });
}
