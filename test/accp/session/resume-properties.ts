/** A process that is killed at any moment leaves what one that ran through leaves. */
import { expect, test } from 'vitest';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { freshFiles } from '../../storage/folder.js';
import { carryOut, pipelineOf, WORKER } from './pipeline.js';

/**
 * @param kills how often the process is killed
 * @param compact whether both sides send compact frames
 */
export function testResume(kills: number, rounds: number, compact: boolean): void {
  const bundled = bundledProgram(new URL('programs/worker.ts', import.meta.url));
  const worker = (): readonly string[] => [bundled(), ...(compact ? ['compact'] : [])];
  const fresh = freshFiles();

  test(`a pipeline that is killed ${kills} times at random ends like an undisturbed one (compact: ${compact})`, async () => {
    const commands = pipelineOf(rounds, compact);
    const [calm, killed] = [fresh('calm'), fresh('killed')];
    const undisturbed = await carryOut(worker(), commands, calm, []);
    expect(undisturbed.frames.some((frame) => /^@worker>done:[0-9]/.test(frame))).toBe(compact);
    const moments = Array.from({ length: kills }, () => Math.floor(Math.random() * (commands.length - 10)));
    const disturbed = await carryOut(
      worker(),
      commands,
      killed,
      moments.sort((one, other) => one - other),
    );
    // A process may be over two moments when the signal comes.
    expect(disturbed.kills).toBeGreaterThan(kills / 2);
    // Numbers, seen identifiers, outbox, chains, sequences, streams, peers and their registries, all tiers of state.
    expect(await contentOf(killed)).toEqual(await contentOf(calm));
    // Frames that were given back are those of the calm run, in the same order.
    const expected = undisturbed.frames.filter((frame) => disturbed.frames.includes(frame));
    expect(disturbed.frames).toEqual(expected);
    await expectDelivered(killed, disturbed.frames, rounds);
  });

  async function contentOf(file: string): Promise<unknown> {
    const store = await sqliteStore(file);
    try {
      const endpoint = store.claim(WORKER.id, WORKER.agent);
      const entries = [...endpoint.entries()];
      const cold = Array.from({ length: rounds }, (_, at) => endpoint.readCold(`ckpt_${at + 1}`));
      return { entries, cold };
    } finally {
      store.close();
    }
  }

  /** Frames that the process had not returned when it was killed are sent again when the other side requests them. */
  async function expectDelivered(file: string, frames: readonly string[], count: number): Promise<void> {
    const codec = createCodec({ text: 'transliterate', now: () => 1_715_000_000_000, state: false });
    const store = await sqliteStore(file);
    const worker = createSession({ ...WORKER, store });
    expect(worker.resumed).toBe(true);
    const planner = createSession({ ...WORKER, agent: 'planner' });
    const last = codec.encode({ intent: 'ack', operation: 'end' }, worker).frames;
    const found: unknown[] = [];
    const toPlanner = [...frames, ...last];
    for (const frame of toPlanner) {
      const outcome = codec.decode(frame, planner);
      if (outcome.outcome === 'message' && outcome.message.intent === 'done')
        found.push(outcome.message.payload['findings']);
      if (outcome.outcome !== 'rejected' || outcome.reply === null) continue;
      const answer = codec.decode(outcome.reply, worker);
      if (answer.outcome === 'message') toPlanner.push(...answer.replies);
    }
    expect(found).toEqual(Array.from({ length: count }, (_, at) => `found ${at + 1}`));
    store.close();
  }
}
