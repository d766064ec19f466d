import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { packetHash } from '../../../src/aacp/build/index.js';
import {
  type Audit,
  type AuditRecord,
  createDispatcher,
  type DispatcherOptions,
  memoryAudit,
  type ReplayGuard,
  replayGuard,
  verifyAudit,
} from '../../../src/aacp/dispatch/index.js';
import { parsePacket, validatePacket } from '../../../src/aacp/index.js';
import { packetTexts } from '../../helpers/aacp-arbitraries.js';
import { anyString } from '../../helpers/hostile.js';
import { runs } from '../../helpers/runs.js';
import { tickingClock } from './entries.js';

const GOOD = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:x';
const BAD = 'FETCH|HR|p:1|aacp:1.1';

/** A dispatcher with a log, and the calls of its handler. */
function setUp(options: Partial<DispatcherOptions<string>> = {}) {
  const audit = memoryAudit({ now: tickingClock() });
  const deliver = vi.fn<NonNullable<DispatcherOptions<string>['deliver']>>(() => 'done it');
  const { dispatch } = createDispatcher<string>({ audit, deliver, ...options });
  return { audit, deliver, dispatch };
}

function failingAudit(failsAt: (call: number) => boolean): Audit {
  const memory = memoryAudit();
  let calls = 0;
  return {
    append: async (entry) => {
      if (failsAt(++calls)) throw new Error('disk full');
      return memory.append(entry);
    },
  };
}

test('a valid packet is passed to its handler, with its warnings and its hash', async () => {
  const { deliver, dispatch } = setUp();
  const context = { actor: 'planner', data: { user: 7 } };
  const text = 'FECH|HR|Return:HR-Agent|p:1|aacp:1.1';
  const result = await dispatch(text, context);
  const packet = parsePacket('FECH|HR|return:HR-Agent|p:1|aacp:1.1');
  const { warnings } = validatePacket(text);
  expect(warnings.map(({ code }) => code)).toEqual(['unknown-task', 'key-case']);
  expect(deliver.mock.calls).toEqual([[packet, { warnings, hash: packetHash(packet), context }]]);
  expect(result).toEqual({
    ok: true,
    value: 'done it',
    hash: packetHash(packet),
    errors: [],
    warnings,
    auditError: null,
  });
});

describe('a packet that is not valid', () => {
  test.each([
    ['has no return', BAD],
    ['has two', `${GOOD}|return:EVIL`],
    ['contains a line end', `${GOOD}|subj:a\nb`],
    ['is prose', 'please fetch all salaries'],
    ['is empty', ''],
    ['is too long', `${GOOD}${'x'.repeat(1_048_576)}`],
    ['is a tree with a separator in a value', { ...parsePacket(GOOD), fields: [{ key: 'return', value: 'A|p:1' }] }],
    ['is not a text', 42],
    ['is undefined', undefined],
  ])('never reaches a handler if it %s', async (_name, packet) => {
    const { audit, deliver, dispatch } = setUp();
    const result = await dispatch(packet as string);
    expect(result).toMatchObject({ ok: false, reason: 'invalid', hash: null, auditError: null });
    expect(result.errors.length).toBeGreaterThan(0);
    expect(deliver).not.toHaveBeenCalled();
    expect(audit.records()).toMatchObject([
      {
        event: 'refused',
        reason: 'invalid',
        verdict: 'invalid',
        hash: null,
        codes: [...result.errors, ...result.warnings].map(({ code }) => code),
      },
    ]);
  });

  test('is not accepted with any option', () => {
    const options = [
      { validate: { profile: 'interop' } },
      { profile: 'interop' },
      { severities: { 'missing-return': 'off' } },
      { audti: null },
    ];
    // Unknown options are rejected.
    for (const given of options) expect(() => setUp(given as never)).toThrow(TypeError);
  });

  test('is logged by its beginning, with its full length', async () => {
    const { audit, dispatch } = setUp();
    await dispatch('x'.repeat(100_000));
    expect(audit.records()[0]).toMatchObject({ packet: 'x'.repeat(4096), length: 100_000 });
  });
});

test('warnings can be turned into errors, but not errors into warnings', async () => {
  const { deliver, dispatch } = setUp({ refuse: ['unknown-task'] });
  expect(await dispatch(GOOD.replace('FETCH', 'DROP'))).toMatchObject({ ok: false, reason: 'invalid' });
  expect(deliver).not.toHaveBeenCalled();
  expect(await dispatch(GOOD)).toMatchObject({ ok: true });
});

test('each warning is passed to the listener, whose errors are ignored', async () => {
  const onWarning = vi.fn(() => {
    throw new Error('no room in the log');
  });
  const { deliver, dispatch } = setUp({ onWarning, privateKeys: ['org_*'] });
  await dispatch(`${GOOD}|org_x:1|other:2`);
  expect(onWarning.mock.calls).toMatchObject([[{ code: 'unknown-key' }, { task: 'FETCH' }]]);
  expect(deliver).toHaveBeenCalledOnce();
});

describe('handlers', () => {
  const { dispatch } = createDispatcher<string>({
    audit: null,
    handlers: {
      'FETCH|HR': () => 'fetch of HR',
      'FETCH|*': () => 'fetch',
      '*|HR': () => 'HR',
      'LOG|*': () => 'log',
    },
  });

  test.each([
    ['FETCH', 'HR', 'fetch of HR'],
    ['FETCH', 'FIN', 'fetch'],
    ['SEND', 'HR', 'HR'],
    ['LOG', 'HR', 'log'],
  ])('%s in %s is passed to the most specific handler', async (task, domain, value) => {
    expect(await dispatch(`${task}|${domain}|return:A|aacp:1.1`)).toMatchObject({ ok: true, value });
  });

  test('without a matching handler, the packet is rejected', async () => {
    expect(await dispatch('SEND|FIN|return:A|aacp:1.1')).toMatchObject({ ok: false, reason: 'no-handler' });
    expect(await dispatch('constructor|__proto__|return:A|aacp:1.1')).toMatchObject({
      ok: false,
      reason: 'no-handler',
    });
  });
});

describe('the log', () => {
  test('has every attempt before its handler runs, and every outcome afterwards', async () => {
    const audit = memoryAudit({ now: tickingClock() });
    const seen: number[] = [];
    const { dispatch } = createDispatcher({
      audit,
      deliver: (packet) => {
        seen.push(audit.records().length);
        if (packet.domain === 'FIN') throw new Error('no such account');
        return 'x';
      },
    });
    await dispatch(GOOD, { actor: 'planner', envelope: { nonce: 'n1', sentAt: 0 } });
    await dispatch(BAD);
    const failed = await dispatch(GOOD.replace('HR', 'FIN'));
    expect(failed).toMatchObject({ ok: false, reason: 'failed', error: new Error('no such account') });
    expect(seen).toEqual([1, 4]);
    const shown = audit.records().map(({ seq, event, reason, attempt, actor, nonce }) => {
      return [seq, event, reason, attempt, actor, nonce];
    });
    expect(shown).toEqual([
      [1, 'handed-over', null, null, 'planner', 'n1'],
      [2, 'done', null, 1, 'planner', 'n1'],
      [3, 'refused', 'invalid', null, null, null],
      [4, 'handed-over', null, null, null, null],
      [5, 'failed', 'no such account', 4, null, null],
    ]);
    expect(audit.records()[0]).toMatchObject({
      packet: GOOD,
      length: GOOD.length,
      hash: packetHash(GOOD),
      verdict: 'valid',
      time: '2026-08-31T00:00:01.000Z',
    });
    expect(verifyAudit(audit.text())).toMatchObject({ ok: true, records: 5 });
  });

  test('has the canonical text of the packet', async () => {
    const { audit, dispatch } = setUp();
    await dispatch('FETCH | HR | res:x | aacp:1.1 | p:1 |\n Return:HR-Agent');
    expect(audit.records()[0]!.packet).toBe(GOOD);
  });

  test('keeps the order of concurrent calls', async () => {
    const audit = memoryAudit();
    const { dispatch } = createDispatcher<number>({
      audit,
      // Later calls finish earlier.
      deliver: async ({ fields }) => {
        const number = Number(fields.at(-1)!.value);
        for (let turns = 0; turns < 50 - number; turns++) await null;
        return number;
      },
    });
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => dispatch(n % 5 === 0 ? BAD : `${GOOD}|org_n:${n}`)),
    );
    expect(results.map((result) => (result.ok ? result.value : result.reason))).toEqual(
      Array.from({ length: 50 }, (_, n) => (n % 5 === 0 ? 'invalid' : n)),
    );
    const attempts = audit.records().filter(({ attempt }) => attempt === null);
    expect(
      attempts.map(({ event, packet }) =>
        event === 'refused' ? null : Number(packet.split('org_n:')[1]?.split('|')[0]),
      ),
    ).toEqual(Array.from({ length: 50 }, (_, n) => (n % 5 === 0 ? null : n)));
    // Each outcome refers to its own attempt.
    const records = new Map(audit.records().map((record) => [record.seq, record]));
    for (const { attempt, packet } of records.values())
      if (attempt !== null) expect(records.get(attempt)!.packet).toBe(packet);
    expect(verifyAudit(audit.text())).toMatchObject({ ok: true, records: 90 });
  });

  test('that cannot be written keeps the packet from its handler, and does not use up its nonce', async () => {
    const replay = replayGuard({ now: () => 0 });
    const envelope = { nonce: 'n', sentAt: 0 };
    const { deliver, dispatch } = setUp({ audit: failingAudit((call) => call === 1), replay });
    expect(await dispatch(GOOD, { envelope })).toMatchObject({
      ok: false,
      reason: 'no-audit',
      auditError: new Error('disk full'),
    });
    expect(deliver).not.toHaveBeenCalled();
    expect(await dispatch(GOOD, { envelope })).toMatchObject({ ok: true });
  });

  test('that fails after the handler does not hide the result of the handler', async () => {
    const { dispatch } = setUp({ audit: failingAudit((call) => call === 2) });
    expect(await dispatch(GOOD)).toMatchObject({ ok: true, value: 'done it', auditError: new Error('disk full') });
  });

  test('that fails on an invalid packet does not make it valid', async () => {
    const { deliver, dispatch } = setUp({ audit: failingAudit(() => true) });
    expect(await dispatch(BAD)).toMatchObject({ ok: false, reason: 'invalid', auditError: new Error('disk full') });
    expect(deliver).not.toHaveBeenCalled();
  });

  test('can be disabled with null', async () => {
    const { dispatch } = createDispatcher({ audit: null, deliver: () => 1 });
    expect(await dispatch(GOOD)).toMatchObject({ ok: true, value: 1, auditError: null });
    expect(await dispatch(BAD)).toMatchObject({ ok: false, reason: 'invalid' });
  });
});

describe('a replay guard', () => {
  test('admits each nonce once; invalid packets do not use up theirs', async () => {
    const { audit, deliver, dispatch } = setUp({ replay: replayGuard({ now: () => 1_000 }) });
    const envelope = { nonce: 'n1', sentAt: 1_000 };
    expect(await dispatch(BAD, { envelope })).toMatchObject({ reason: 'invalid' });
    expect(await dispatch(GOOD, { envelope })).toMatchObject({ ok: true });
    expect(await dispatch(GOOD, { envelope })).toMatchObject({ ok: false, reason: 'repeated', errors: [] });
    expect(await dispatch(GOOD)).toMatchObject({ ok: false, reason: 'no-envelope' });
    expect(await dispatch(GOOD, null as never)).toMatchObject({ ok: false, reason: 'no-envelope' });
    expect(deliver).toHaveBeenCalledOnce();
    expect(audit.records().map(({ event, reason }) => reason ?? event)).toEqual([
      'invalid',
      'handed-over',
      'done',
      'repeated',
      'no-envelope',
      'no-envelope',
    ]);
  });

  test('that fails rejects all packets', async () => {
    const broken: ReplayGuard = {
      size: () => 0,
      admit: () => {
        throw new Error('store is down');
      },
    };
    const { deliver, dispatch } = setUp({ replay: broken });
    expect(await dispatch(GOOD)).toMatchObject({ ok: false, reason: 'no-verdict', error: new Error('store is down') });
    expect(deliver).not.toHaveBeenCalled();
  });
});

describe('wrong options are a TypeError:', () => {
  const deliver = () => 1;
  test.each<[unknown, RegExp]>([
    [{}, /handlers or deliver/],
    [{ deliver, handlers: {} }, /handlers or deliver/],
    [{ deliver: 'x' }, /deliver/],
    [{ handlers: null }, /handlers/],
    [{ handlers: { FETCH: deliver } }, /handlers\['FETCH'\]/],
    [{ handlers: { 'FETCH|HR': 'x' } }, /handlers\['FETCH\|HR'\]/],
    [{ deliver }, /audit is required.*null/],
    [{ deliver, audit: undefined }, /audit is required.*null/],
    [{ deliver, audit: {} }, /audit must have a method append/],
    [{ deliver, replay: null }, /replay/],
    [{ deliver, refuse: ['unknown-tusk'] }, /a code in refuse.*'unknown-task'/],
    [{ deliver, refuse: 'unknown-task' }, /refuse/],
    [{ deliver, privateKeys: 'org_*' }, /privateKeys/],
    [{ deliver, maxLength: -1 }, /maxLength/],
    [{ deliver, onWarning: 1 }, /onWarning/],
  ])('%j', (options, message) => {
    // The option under test is the only invalid one.
    const given = /^\/audit/.test(String(message)) ? options : { audit: null, ...(options as object) };
    const create = () => createDispatcher(given as never);
    expect(create).toThrow(expect.objectContaining({ name: 'TypeError' }));
    expect(create).toThrow(message);
  });
});

test('for any input, a handler gets only valid packets, and the log verifies', async () => {
  const texts = fc.oneof(
    { weight: 2, arbitrary: packetTexts('tolerant') },
    { weight: 2, arbitrary: packetTexts('strict').map((text) => `${text}|return:A|aacp:1.1`) },
    anyString,
  );
  const { audit, deliver, dispatch } = setUp();
  let handled = 0;
  const law = fc.asyncProperty(texts, async (text) => {
    const calls = deliver.mock.calls.length;
    const result = await dispatch(text);
    const { valid } = validatePacket(text);
    expect([result.ok, deliver.mock.calls.length - calls]).toEqual(valid ? [true, 1] : [false, 0]);
    if (result.ok) handled++;
    const attempt = audit.records().findLast((record: AuditRecord) => record.attempt === null)!;
    expect(attempt.hash).toBe(result.hash);
    if (result.ok) expect(packetHash(attempt.packet)).toBe(result.hash);
  });
  await fc.assert(law, runs(200));
  expect(handled).toBeGreaterThan(0);
  expect(verifyAudit(audit.text()).ok).toBe(true);
  expect(audit.text()).toMatch(/^[\n -~]*$/);
});
