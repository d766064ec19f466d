/** A runtime that is killed while a sandboxed tool runs. Prints the process and folder of the tool. */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { memoryChannels, openClient } from '../../../src/arcp/client/index.js';
import { createRuntime, sandboxed } from '../../../src/arcp/runtime/index.js';

const runtime = createRuntime().tool('work', { durable: true }, sandboxed(new URL('tool.mjs', import.meta.url)));
const client = await openClient(() => {
  const [here, there] = memoryChannels();
  void runtime.accept(there);
  return here;
});
for await (const { type, payload } of client.invoke('work', { do: 'wait' }).events())
  if (type === 'job.progress') {
    writeSync(1, JSON.stringify(payload));
    process.kill(process.pid, 'SIGKILL');
  }
