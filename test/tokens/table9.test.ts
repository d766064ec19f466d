import { describe, expect, test } from 'vitest';
import { countsOf, pipelineCounts, readTable9, tokenTable, withEnvelope } from '../../bench/token-table.js';
import { parseFrame, printFrame } from '../../src/accp/index.js';
import { countTokens } from '../../src/tokens/load-counter.js';

const data = readTable9();
const utterances = [...data.scenarios, ...data.pipeline.steps];

describe('the texts of the table', () => {
  test.each(utterances.map((utterance) => [utterance.frame, utterance] as const))('%s', (frame, { message }) => {
    const { agent, intent, operation, payload } = parseFrame(frame);
    expect({ agent, intent, operation }).toStrictEqual({
      agent: message.agent,
      intent: message.intent,
      operation: message.operation,
    });
    expect(payload).toHaveLength(Object.keys(message.payload).length);
    expect(printFrame(parseFrame(frame))).toBe(frame);
    expect(() => parseFrame(withEnvelope(frame, data.envelope))).not.toThrow();
  });

  test('are sent by five agents in the pipeline', () => {
    expect(new Set(data.pipeline.steps.map(({ message }) => message.agent)).size).toBe(5);
  });
});

describe('the counts', () => {
  test('of a scenario are the sums of its texts', async () => {
    const [scenario] = data.scenarios;
    const counts = await countsOf(scenario!, data.envelope, 'o200k_base');
    const tokens = async (text: string): Promise<number> => (await countTokens(text)).tokens;
    expect(counts).toMatchObject({
      english: await tokens(scenario!.english),
      json: await tokens(JSON.stringify(scenario!.message)),
      accp: await tokens(scenario!.frame),
      accpWhole: await tokens(withEnvelope(scenario!.frame, data.envelope)),
    });
  });

  test('of a pipeline include the history of each step, or a summary of 100 tokens after a checkpoint', async () => {
    const text = 'one two three';
    const step = (intent: string) => ({
      english: text,
      message: { agent: 'a', intent, operation: 'x', payload: {} },
      frame: `@a>${intent}:x{}`,
    });
    const pipeline = { ...data.pipeline, steps: [step('req'), step('done'), step('req')] };
    const { history, checkpoints } = await pipelineCounts({ ...data, pipeline }, 'o200k_base');
    expect(history.english).toBe(3 + 6 + 9);
    expect(checkpoints.english).toBe(3 + 6 + 103);
  });

  test('are in the table next to the published ones, including those where ACCP has more tokens', async () => {
    const table = await tokenTable(data);
    for (const { name, claim } of data.scenarios) {
      expect(table).toContain(`| ${name} | ${claim.english}, ${claim.json}, ${claim.accp} |`);
    }
    const { history } = await pipelineCounts(data, 'o200k_base');
    expect(history.accpWhole).toBeGreaterThan(history.english);
    expect(table).toContain(`${history.accpWhole.toLocaleString('en-US')} | +`);
  });
});
