/** The cases of conformance/acp, with `pegwire acp run` around the agent. */
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { type Case, cases, expectedOf, inOrder, piecesOf, toldOf } from '../../../acp/cases.js';
import { bundledProgram } from '../../../helpers/bundled-program.js';
import { ended, start } from '../../../helpers/child.js';
import { PROGRAM } from '../../../helpers/cli.js';

const agent = bundledProgram(new URL('../../../fixtures/minimal-agent.mjs', import.meta.url));

async function holds(one: Case, batches: 'split' | 'pass'): Promise<void> {
  const child = start([...PROGRAM, 'acp', 'run', '--batches', batches, '--', process.execPath, agent()]);
  const over = ended(child);
  for (const piece of piecesOf(one)) await new Promise((resolve) => child.stdin.write(piece, resolve));
  child.stdin.end();
  const ran = await over;
  // What is no message is answered in front of the agent, and so before what the agent is working on.
  expect(inOrder(toldOf(ran))).toEqual(inOrder(expectedOf(one, ran)));
  expect(ran.code).toBe(0);
}

/** Of the notifications in a batch, an agent that gets the entries one by one says nothing. */
const NEEDS_BATCHES = 'B25';

describe('an agent under pegwire acp run', () => {
  test.concurrent.each(cases)('$id: $name', (one) => holds(one, one.id === NEEDS_BATCHES ? 'pass' : 'split'));
});
