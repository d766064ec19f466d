/** Values, token optimization and frame limits (draft-benzing-accp-00, sections 3.1.1, 3.3 and 3.4). */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRAME_LIMITS, type Json, ref } from '../../../src/accp/codec/index.js';
import { parseFrame, printFrame } from '../../../src/accp/index.js';
import { loadTokenCounter } from '../../../src/tokens/index.js';
import { accepted, COUNTS_X, endpoints, taken, thrownBy } from './endpoints.js';

const EXACT = await loadTokenCounter('o200k_base');

/** Returns the spelling of a value on the wire, and the decoded value. */
function roundTrip(value: Json): { readonly wire: string; readonly back: Json | undefined } {
  const { codec, planner, worker } = endpoints({ codec: { text: 'reject' } });
  const { frames } = codec.encode({ intent: 'req', operation: 'run', payload: { value } }, planner);
  expect(frames).toHaveLength(1);
  const { body } = taken(frames[0]!);
  return {
    wire: body.slice('@planner>req:run{value:'.length, -1),
    back: accepted(codec.decode(frames[0]!, worker)).message.payload['value'],
  };
}

describe('canonical values (Table 2)', () => {
  test.each<readonly [kind: string, value: Json, wire: string]>([
    ['String', 'hello', 'hello'],
    ['String with a delimiter', 'a:b', 'a\\:b'],
    ['String of delimiters alone', '@>:{}[]|$,~\\', '\\@\\>\\:\\{\\}\\[\\]\\|\\$\\,\\~\\\\'],
    ['Integer', 42, '42'],
    ['negative Integer', -7, '-7'],
    ['Decimal', 3.14, '3.14'],
    ['negative Decimal', -0.5, '-0.5'],
    ['Boolean', true, 'true'],
    ['false Boolean', false, 'false'],
    ['Null', null, '~'],
    ['Array', [1, 2, 3], '[1,2,3]'],
    ['empty Array', [], '[]'],
    ['Map', { a: 1, b: 2 }, '{a:1,b:2}'],
    ['Map in another order', { b: 2, a: 1, B: 0 }, '{B:0,a:1,b:2}'],
  ])('%s: written as the table says, and read back as the same value', (_kind, value, wire) => {
    expect(roundTrip(value)).toEqual({ wire, back: value });
  });

  test('Ref: written with a dollar sign, tier and key', () => {
    const { codec, planner } = endpoints();
    const payload = { source: ref('warm.ckpt_1.status') };
    const { frames } = codec.encode({ intent: 'qry', operation: 'lookup', payload }, planner);
    expect(frames[0]).toContain('{src:$warm.ckpt_1.status}');
  });

  test.each([
    ['007', '7'],
    ['-007', '-7'],
    ['000', '0'],
  ])('Integer: %s prints without its leading zeros', (text, canonical) => {
    expect(printFrame(parseFrame(`@a>req:x{v:${text}}`))).toBe(`@a>req:x{v:${canonical}}`);
  });

  test.each([
    ['142.500000', '142.5'],
    ['0.12345650', '0.123456'],
    ['0.12345750', '0.123458'],
    ['2.000000', '2.0'],
    ['-0.0000001', '0.0'],
  ])('Decimal: %s prints with at most six places and without trailing zeros', (text, canonical) => {
    expect(printFrame(parseFrame(`@a>req:x{v:${text}}`))).toBe(`@a>req:x{v:${canonical}}`);
  });

  test('any number is written with at most six places, without idle zeros and without an exponent, or rejected', () => {
    const numbers = fc.oneof(
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.float({ noNaN: true }),
      fc.integer(),
    );
    fc.assert(
      fc.property(numbers, (value) => {
        const { codec, planner, worker } = endpoints();
        const input = { intent: 'req', operation: 'run', payload: { value } };
        let frames: readonly string[];
        try {
          ({ frames } = codec.encode(input, planner));
        } catch {
          expect(thrownBy(() => codec.encode(input, planner)).code).toBe('E1004');
          return;
        }
        const wire = /\{value:([^}]*)\}/.exec(frames[0]!)?.[1];
        expect(wire).toMatch(/^-?(?:0|[1-9][0-9]*)(?:\.(?:0|[0-9]{0,5}[1-9]))?$/);
        const back = accepted(codec.decode(frames[0]!, worker)).message.payload['value'];
        expect(Math.abs(Number(back) - value)).toBeLessThanOrEqual(5e-7 + Math.abs(value) * 1e-15);
      }),
      { numRuns: 100 },
    );
  });

  test('rounding to six places is reported', () => {
    const { codec, planner } = endpoints();
    const { frames, losses } = codec.encode(
      { intent: 'req', operation: 'run', payload: { share: 0.1234567, exact: 0.25 } },
      planner,
    );
    expect(frames[0]).toContain('{share:0.123457|exact:0.25}');
    expect(losses).toEqual([{ path: 'payload.share', kind: 'rounded', from: '0.1234567', to: '0.123457' }]);
  });
});

describe('examples (section 3.2)', () => {
  test.each<readonly [string, 'strict' | 'lenient', string]>([
    [
      'Task completion with findings',
      'lenient',
      '@research>done:analyze{d:q3_sales|f:[rev:-12%QoQ,ent_seg:decline,churn:+3.2%]|nx:@strategy:plan}',
    ],
    [
      'Request with parameters',
      'lenient',
      '@planner>req:schedule{who:@dev_team|when:sprint_14|task:impl_auth_module|pri:high}',
    ],
    [
      'Query with context reference',
      'strict',
      '@analyst>qry:lookup{src:$ctx.sales_db|q:revenue_by_region|fmt:summary}',
    ],
    ['State sync', 'strict', '@orchestrator>sync:state{v:7|delta:{task_3:done,task_4:wip,budget:$42.30}}'],
    ['Error with escalation', 'lenient', '@data_agent>fail:fetch{src:api.crm|err:timeout_30s|retry:3|esc:@supervisor}'],
  ])('%s: read by the %s dialect, and printed as a strict frame', (_what, dialect, example) => {
    const printed = printFrame(parseFrame(example, { dialect }));
    expect(printFrame(parseFrame(printed, { dialect: 'strict' }))).toBe(printed);
    expect(printed.replaceAll('\\', '').length).toBe(example.length);
    if (dialect === 'lenient') expect(() => parseFrame(example)).toThrow();
  });
});

describe('token optimization (section 3.3)', () => {
  test('rule 1: no frame contains white space or a control character, for any message', () => {
    const texts = fc.string({
      unit: fc.constantFrom(' ', '\t', '\n', '\r', '\u2028', '\u00a0', 'a', 'é', '_', ':'),
      minLength: 1,
    });
    fc.assert(
      fc.property(texts, (text) => {
        const { codec, planner, worker } = endpoints({ codec: { text: 'transliterate', state: false } });
        const { frames } = codec.encode({ intent: 'req', operation: 'run', payload: { text, list: [text] } }, planner);
        for (const frame of frames) expect(frame).toMatch(/^[!-~]+$/);
        expect(frames).toHaveLength(1);
        expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual({ text, list: [text] });
      }),
      { numRuns: 60 },
    );
  });

  test('rule 1: a frame with a space, tab or newline is rejected', () => {
    for (const space of [' ', '\t', '\n', '\r']) {
      const { codec, worker } = endpoints();
      expect(codec.decode(`@planner>req:run{v:a${space}b}[mid:m1,seq:1]`, worker).outcome).toBe('rejected');
    }
  });

  test('rule 4: a value of more than 50 characters is stored in state, and the frame has a reference', () => {
    const { codec, planner, worker } = endpoints({ shared: true });
    const payload = { short: 'x'.repeat(50), long: 'y'.repeat(51) };
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
    expect(frames[0]).toMatch(new RegExp(`\\{short:${payload.short}\\|long:\\$cold\\.[a-z0-9]+\\}`));
    expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual(payload);
  });

  test('rule 4: if the other side could not resolve it, a long value stays in the frame', () => {
    const { codec, planner, worker, events } = endpoints();
    const payload = { long: 'y'.repeat(51) };
    const { frames } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
    expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual(payload);
    expect(events.map(({ type }) => type)).toContain('inline');
  });

  test('rule 5: defaults of the schema are omitted, and filled in again', () => {
    const { codec, planner, worker } = endpoints();
    const payload = { assignee: 'dev', task: 'auth', priority: 'medium', deps: [] };
    const { frames } = codec.encode({ intent: 'req', operation: 'schedule', schema: 'TA', payload }, planner);
    expect(taken(frames[0]!).body).toBe('@planner>req:schedule{asgn:dev|task:auth|schema:TA}');
    expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual(payload);
  });

  test('rule 6: arrays are items between brackets with nothing but commas', () => {
    expect(roundTrip(['a', 'b', ['c', 4]]).wire).toBe('[a,b,[c,4]]');
  });
});

/** The parts of a frame with so many tokens each, and what the codec says of their size. */
function sized({ header = 1, body = 1, metadata = 1 }): { readonly frames: readonly string[]; readonly said: string } {
  const { codec, planner, worker } = endpoints({ codec: { counter: COUNTS_X, state: false } });
  const result = codec.encode(
    {
      agent: 'x'.repeat(header),
      intent: 'req',
      operation: 'run',
      payload: { v: 'x'.repeat(body) },
      envelope: { correlation_id: 'x'.repeat(metadata) },
    },
    planner,
  );
  const outcomes = result.frames.map((frame) => codec.decode(frame, worker));
  expect(accepted(outcomes.at(-1)!).message.payload['version']).toBe('x'.repeat(body));
  for (const part of outcomes.slice(0, -1)) expect(part).toMatchObject({ outcome: 'pending', part: 'sequence' });
  return { frames: result.frames, said: result.warnings.map(({ message }) => message).join('\n') };
}

describe('frame size limits (section 3.4)', () => {
  test('the limits are those of Table 3', () => {
    expect(FRAME_LIMITS).toEqual({
      header: { soft: 5, hard: 10 },
      body: { soft: 50, hard: 200 },
      metadata: { soft: 10, hard: 30 },
      total: { soft: 65, hard: 240 },
    });
  });

  test.each([
    ['Header', { header: 5 }, { header: 6 }, 'The header is 6 tokens; its soft limit is 5.'],
    ['Body', { body: 50 }, { body: 51 }, 'The body is 51 tokens; its soft limit is 50.'],
    ['Metadata', { metadata: 10 }, { metadata: 11 }, 'The metadata is 11 tokens; its soft limit is 10.'],
    [
      'Total Frame',
      { header: 5, body: 50, metadata: 10 },
      { header: 5, body: 50, metadata: 11 },
      'The frame is 66 tokens; its soft limit is 65.',
    ],
  ])('%s: at its soft limit there is no warning, beyond it there is one', (_part, at, beyond, warning) => {
    expect(sized(at)).toMatchObject({ said: '', frames: [expect.any(String)] });
    expect(sized(beyond).said).toContain(warning);
    expect(sized(beyond).frames).toHaveLength(1);
  });

  test.each([
    ['Header', { header: 10 }, { header: 11 }, 'The header is 11 tokens; its hard limit is 10.'],
    ['Metadata', { metadata: 30 }, { metadata: 31 }, 'The metadata is 31 tokens; its hard limit is 30.'],
  ])('%s: beyond its hard limit, which splitting cannot meet, there is a warning', (_part, at, beyond, warning) => {
    expect(sized(at).said).not.toContain('hard');
    expect(sized(beyond).said).toContain(warning);
  });

  test.each([
    ['Body', { body: 200 }, { body: 201 }],
    ['Total Frame', { header: 10, body: 200, metadata: 30 }, { header: 10, body: 200, metadata: 31 }],
  ])('%s: at its hard limit the message is one frame, beyond it a sequence of frames', (_part, at, beyond) => {
    expect(sized(at).frames).toHaveLength(1);
    const { frames } = sized(beyond);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(COUNTS_X.count(frame)).toBeLessThanOrEqual(FRAME_LIMITS.total.hard);
  });

  test('a message beyond a hard limit is split into frames within all limits, and joined again', () => {
    const { codec, planner, worker } = endpoints({ codec: { counter: EXACT } });
    const payload = { notes: Array.from({ length: 60 }, (_, at) => `item_${at}_is_ready`) };
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'run', payload }, planner);
    expect(EXACT.exact).toBe(true);
    expect(frames.length).toBeGreaterThan(1);
    for (const [at, frame] of frames.entries()) {
      const { body, metadata } = taken(frame);
      expect(metadata).toMatchObject({ cid: correlationId, idx: String(at), tot: String(frames.length) });
      expect(EXACT.count(body.slice('@planner>req'.length))).toBeLessThanOrEqual(200);
      expect(EXACT.count(frame)).toBeLessThanOrEqual(240);
    }
    const outcomes = frames.map((frame) => codec.decode(frame, worker));
    expect(outcomes.slice(0, -1).map(({ outcome }) => outcome)).toEqual(Array(frames.length - 1).fill('pending'));
    expect({ ...accepted(outcomes.at(-1)!).message.payload }).toEqual(payload);
  });

  test('if both ends share a store, long values are stored in state instead, and the message remains one frame', () => {
    const { codec, planner, worker } = endpoints({ shared: true, codec: { counter: EXACT } });
    const payload = { report: 'quarterly_revenue_by_region_'.repeat(60) };
    const { frames } = codec.encode({ intent: 'done', operation: 'analyze', payload }, planner);
    expect(frames).toHaveLength(1);
    expect(EXACT.count(frames[0]!)).toBeLessThanOrEqual(240);
    expect({ ...accepted(codec.decode(frames[0]!, worker)).message.payload }).toEqual(payload);
  });

  test('a message that does not fit into state is rejected, and the session is unchanged', () => {
    const { codec, planner, worker } = endpoints({ codec: { counter: COUNTS_X, checkpoints: 'manual', limits: WIDE } });
    const send = (length: number): string =>
      codec.encode({ intent: 'req', operation: 'run', payload: { v1: 'x'.repeat(length) } }, planner).frames[0]!;
    accepted(codec.decode(send(450), worker));
    expect(thrownBy(() => send(51)).code).toBe('E2003');
    expect(accepted(codec.decode(send(50), worker)).message.envelope.sequence).toBe(2);
  });
});

/** Limits that no frame of the tests is over. */
const WIDE = { body: { soft: 1000, hard: 1000 }, total: { soft: 1000, hard: 1000 } };
