/** Commands of `pegwire arcp` that give up after some time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRuntime, listenUnix } from '../../../../src/arcp/runtime/index.js';
import { cli } from '../../../helpers/cli.js';

test('invoke names the command that follows the job if the runtime does not return', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-arcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const target = `unix:${path.join(folder, 'socket')}`;
  let begin = (): void => {};
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const runtime = createRuntime().tool('wait', { durable: true }, (_, { signal }) => {
    begin();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const { close } = await listenUnix(runtime, target.slice('unix:'.length));
  const invoked = cli(['arcp', 'invoke', target, 'wait', '--quiet']);
  await hasBegun;
  await Promise.all([close(), runtime.close()]);
  const { code, stderr } = await invoked;
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`pegwire arcp tail ${target} job_[0-9A-Z]+\n$`));
});
