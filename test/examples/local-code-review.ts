/** A review that mends what it finds, where it may: `npx tsx test/examples/local-code-review.ts`. */
import type { Runtime } from '../../src/arcp/runtime/portable.js';
import { run, type Scenario, type Stage } from './arcp/stage.js';

/** The files under review; here, a file system that can be looked into afterwards. */
export const FILES = new Map<string, string>();

const SOURCE = { 'src/sum.ts': 'export const sum = (a, b) => a - b;\n', 'src/ok.ts': 'export const one = 1;\n' };

function setUp(runtime: Runtime): void {
  FILES.clear();
  for (const [path, text] of Object.entries(SOURCE)) FILES.set(path, text);
  runtime
    .tool('files.read', {}, ({ path }) => FILES.get(String(path)))
    .tool(
      'review',
      { durable: true, permissions: ['filesystem.write'] },
      async (_, { call, stream, permission, progress, step }) => {
        const findings = stream({ kind: 'event', name: 'findings' });
        const paths = [...FILES.keys()];
        for (const [at, path] of paths.entries()) {
          const text = await call<string>('files.read', { path });
          if (text.includes('a - b')) await findings.write({ path, line: 1, message: 'It says sum, and subtracts.' });
          await progress({ current: at + 1, total: paths.length, unit: 'files' });
        }
        await findings.close();
        const lease = await permission({
          ...{ permission: 'filesystem.write', resource: 'file:src/sum.ts', operation: 'patch' },
          ...{ reason: 'Mend what was found', risk: 'low', preview: { from: 'a - b', to: 'a + b' } },
        });
        await step('patch', async () => {
          await lease.use();
          FILES.set('src/sum.ts', FILES.get('src/sum.ts')!.replace('a - b', 'a + b'));
        });
        const tests = stream({ kind: 'text', name: 'stdout' });
        for (const line of ['✓ sum adds', '✓ one is one', '2 passed']) await tests.write(`${line}\n`);
        await tests.close();
        return { patched: ['src/sum.ts'], passed: 2 };
      },
    );
}

async function play(stage: Stage, isGranted: boolean): Promise<void> {
  const client = await stage.connect({
    onPermission: ({ payload }) => {
      stage.say(
        `The developer is shown the patch of ${payload.resource}, and ${isGranted ? 'allows' : 'does not allow'} it.`,
      );
      return isGranted ? { decision: 'grant' } : { decision: 'deny', reason: 'I will do it myself' };
    },
  });
  stage.say('The review begins.');
  const review = client.invoke('review');
  const output = (async () => {
    let text = '';
    for await (const piece of review.stream('stdout')) text += piece;
    return text;
  })();
  try {
    await review.result();
    stage.say(`The tests said: ${(await output).trim().split('\n').at(-1)}.`);
  } catch {
    stage.say('Nothing was changed.');
  }
  await client.close();
}

export const scenario: Scenario = {
  title: 'Code review on this machine',
  story:
    'A reviewer reads the files, streams what it finds, and asks before it writes. Then it runs the tests, whose output comes as it is ' +
    'printed. Where the developer says no, the files stay as they are.',
  setUp,
  play: (stage) => play(stage, true),
};

export const denied: Scenario = { ...scenario, play: (stage) => play(stage, false) };

await run(scenario, import.meta.url);
