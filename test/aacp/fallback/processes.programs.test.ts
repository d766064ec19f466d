/** Several processes that share a registry file call the model once per instruction. */
import { afterEach, describe, expect, test } from 'vitest';
import { sqliteRegistry } from '../../../src/aacp/fallback/index.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { gate, goodReply, PRICE, packetFor } from '../../helpers/fallback.js';
import { freshFiles } from '../../storage/folder.js';
import { type CountingModel, countingModel, ENCODER_CHILD, encoding } from './encoder-children.js';

const INSTRUCTION = 'Chase the late timesheets of the warehouse team.';
const PACKET = packetFor({ domain: 'HR', returnAgent: 'HR-Agent', priority: '2' });
const fresh = freshFiles();
const program = bundledProgram(ENCODER_CHILD);

let model: CountingModel | undefined;
afterEach(() => model?.close());

/** Makes a unique word from a number: instructions that differ only in numbers would share a pattern. */
function wordOf(number: number): string {
  return [...`${number}`].map((digit) => `${'bdfgklmnpr'[Number(digit)]}o`).join('');
}

describe('several processes', () => {
  test('with 64 callers of the same instruction make one call: 16 callers in each of 4 processes', async () => {
    const file = fresh();
    const opened = gate();
    model = await countingModel((asked) => opened.opened.then(() => goodReply(asked)));
    const job = { instructions: Array<string>(16).fill(INSTRUCTION), together: true };
    const children = Array.from({ length: 4 }, () => encoding(program(), file, model!.url, job));
    await Promise.all(children.map(({ says }) => says('open')));
    for (const { begin } of children) begin();
    await Promise.all(children.map(({ says }) => says('asked')));
    opened.open();

    const ended = await Promise.all(children.map((child) => child.ended));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    const answers = ended.flatMap((one) => one.answers);
    expect(model.asked.length).toBe(1);
    expect([answers.length, new Set(answers.map(({ packet }) => packet))]).toEqual([64, new Set([PACKET])]);
    expect(answers.filter(({ tier }) => tier === 'model').length).toBe(1);
    expect(answers.reduce((sum, { cost }) => sum + cost!, 0)).toBe(PRICE);

    const registry = await sqliteRegistry(file);
    expect(registry.statistics()).toMatchObject({ entries: 1, timesSeen: 64, served: 63, spent: PRICE });
    registry.close();
  });

  test('of which one is killed during the call: another one calls the model, and all others get its packet', async () => {
    const file = fresh();
    // The first call is never answered.
    model = await countingModel((asked, number) => (number === 1 ? gate().opened : goodReply(asked)));
    const first = encoding(program(), file, model.url, { instructions: [INSTRUCTION], together: true, lease: 200 });
    const job = { instructions: Array<string>(4).fill(INSTRUCTION), together: true };
    const others = Array.from({ length: 2 }, () => encoding(program(), file, model!.url, job));
    await Promise.all([first, ...others].map(({ says }) => says('open')));
    first.begin();
    await model.wasAsked(1);
    for (const { begin } of others) begin();
    first.kill();
    expect(await first.ended).toMatchObject({ code: null, answers: [] });

    const ended = await Promise.all(others.map((child) => child.ended));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    const answers = ended.flatMap((one) => one.answers);
    expect(answers.map(({ packet }) => packet)).toEqual(Array(8).fill(PACKET));
    expect(answers.filter(({ tier }) => tier === 'model').length).toBe(1);
    expect(model.asked.length).toBe(2);
  });

  test('store all packets: 50 instructions in each of 8 processes', async () => {
    const file = fresh();
    model = await countingModel((asked) => goodReply(asked, `res:${asked.instruction.replace(/\W+/g, '_')}`));
    const children = Array.from({ length: 8 }, (_, child) => {
      const instructions = Array.from({ length: 50 }, (__, number) => `Order ${wordOf(child)}${wordOf(number)} for us`);
      return encoding(program(), file, model!.url, { instructions, together: false });
    });
    for (const { begin } of children) begin();
    const ended = await Promise.all(children.map((child) => child.ended));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, '']);
    const answers = ended.flatMap((one) => one.answers);
    expect(answers.every(({ warnings }) => warnings === 0)).toBe(true);
    expect([answers.length, model.asked.length]).toEqual([400, 400]);

    const registry = await sqliteRegistry(file);
    const kept = new Map(Array.from(registry.entries(), (entry) => [entry.instruction, entry]));
    expect(kept.size).toBe(400);
    for (const { instruction, packet } of answers) expect(kept.get(instruction)).toMatchObject({ packet, cost: PRICE });
    expect(registry.statistics()).toMatchObject({ entries: 400, timesSeen: 400, spent: 400 * PRICE });
    registry.close();
  });
});
