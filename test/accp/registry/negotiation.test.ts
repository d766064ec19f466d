import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseFrame, printFrame } from '../../../src/accp/index.js';
import type { Json, JsonObject } from '../../../src/accp/message/json.js';
import { createReading, readValue } from '../../../src/accp/message/read-value.js';
import { createWriting, writeParam } from '../../../src/accp/message/write-value.js';
import {
  ANNOUNCEMENT_TYPES,
  type Announcement,
  announcement,
  announcementReceived,
  applyDelta,
  type Features,
  type Negotiation,
  nextStep,
  readAnnouncement,
  registryDelta,
  stepSent,
} from '../../../src/accp/registry/negotiation.js';
import {
  createRegistry,
  matchesHash,
  type Registry,
  registerOperation,
  registerSchema,
} from '../../../src/accp/registry/registry.js';
import { refusal } from './refusals.js';

const NEW_NEGOTIATION: Negotiation = Object.freeze({ announced: null, known: null, peer: null });

const BASE = createRegistry();
const REPORT = { code: 'SR', version: 1, fields: ['period', 'notes'], defaults: { period: 'quarterly', notes: [] } };
const REPORTS = registerSchema(BASE, 'sales_report', REPORT);
const TICKETS = registerSchema(BASE, 'ticket', { code: 'TK', version: 1, fields: ['title'] });
const BOTH: Features = { text: 'transliterate', sequence: 'sender' };

/** One end of a session: what it sends stands in `out` until the other end takes it. */
class Side {
  registry: Registry;
  state = NEW_NEGOTIATION;
  peer: Registry | undefined;
  readonly sent: string[] = [];
  readonly out: JsonObject[] = [];
  readonly kept: Registry[] = [];

  constructor(registry: Registry) {
    this.registry = registry;
  }

  speak(): void {
    const step = nextStep(this.registry, this.state);
    if (step === null) return;
    this.sent.push(step);
    this.out.push((step === 'delta' ? registryDelta : announcement)(this.registry, {}));
    this.state = JSON.parse(JSON.stringify(stepSent(this.registry, this.state, step)));
  }

  hear(payload: JsonObject): void {
    const received = readAnnouncement(payload);
    this.state = announcementReceived(this.registry, this.state, received);
    this.peer =
      received.delta === undefined
        ? [this.registry, ...this.kept].find((known) => matchesHash(known, received.hash))
        : applyDelta(received);
    this.speak();
  }
}

/** A payload as a strict frame brings it, with no text policy agreed on. */
function overTheWire(payload: JsonObject): JsonObject {
  const writing = createWriting({ text: 'reject' });
  const params = Object.entries(payload).map(([key, value]) =>
    writeParam(key, value, writing, ANNOUNCEMENT_TYPES[key]),
  );
  const frame = {
    kind: 'frame',
    agent: 'a',
    intent: 'sync',
    operation: 'registry',
    payload: params,
    metadata: null,
  } as const;
  const reading = createReading({ transliterated: false, resolve: () => null });
  const read = Object.create(null) as { [key: string]: Json };
  for (const { key, value } of parseFrame(printFrame(frame)).payload) {
    read[key] = readValue(value, key, reading, ANNOUNCEMENT_TYPES[key]);
  }
  expect([...writing.losses, ...reading.losses]).toEqual([]);
  return read;
}

function deliver(from: Side, to: Side): void {
  const payload = from.out.shift();
  if (payload !== undefined) to.hear(payload);
}

function settle(a: Side, b: Side): void {
  for (let rounds = 0; a.out.length + b.out.length > 0; rounds++) {
    expect(rounds).toBeLessThan(10);
    deliver(a, b);
    deliver(b, a);
  }
}

describe('negotiation', () => {
  test.each<[string, Registry, Registry, string[], string[]]>([
    ['equal registries', REPORTS, registerSchema(BASE, 'sales_report', REPORT), ['announcement'], ['announcement']],
    ['the profiles alone', BASE, BASE, ['announcement'], ['announcement']],
    ['one with more', REPORTS, BASE, ['announcement', 'delta'], ['delta']],
    ['two different ones', REPORTS, TICKETS, ['announcement', 'delta'], ['delta']],
  ])('of %s, begun by one side', (_, one, two, sentByOne, sentByTwo) => {
    const a = new Side(one);
    const b = new Side(two);
    a.speak();
    settle(a, b);
    expect([a.sent, b.sent]).toEqual([sentByOne, sentByTwo]);
    expect([a.peer?.hash, b.peer?.hash]).toEqual([two.hash, one.hash]);
  });

  test('begun by both sides at once', () => {
    const a = new Side(REPORTS);
    const b = new Side(TICKETS);
    a.speak();
    b.speak();
    settle(a, b);
    expect([a.sent, b.sent]).toEqual([
      ['announcement', 'delta'],
      ['announcement', 'delta'],
    ]);
  });

  test('of a schema that is registered later: its delta alone', () => {
    const a = new Side(BASE);
    const b = new Side(BASE);
    a.speak();
    settle(a, b);
    a.registry = REPORTS;
    a.speak();
    settle(a, b);
    expect([a.sent, b.sent]).toEqual([['announcement', 'delta'], ['announcement']]);
    expect([a.peer?.hash, b.peer?.hash]).toEqual([BASE.hash, REPORTS.hash]);
  });

  test('with a stored registry, which the announcement identifies', () => {
    const b = new Side(TICKETS);
    b.kept.push(REPORTS);
    b.hear(announcement(REPORTS, {}));
    expect(b.peer).toBe(REPORTS);
  });

  test('with any order of frames and registrations informs each side, with one delta per hash: property', () => {
    const action = fc.constantFrom(
      'a speaks',
      'b speaks',
      'to a',
      'to b',
      'a registers',
      'b registers',
      'both register',
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const a = new Side(REPORTS);
        const b = new Side(BASE);
        let count = 0;
        const register = (side: Side, name: string): void => {
          side.registry = registerSchema(side.registry, name, { code: name.toUpperCase(), version: 1, fields: ['x'] });
          side.speak();
        };
        for (const next of actions) {
          count++;
          if (next === 'a speaks') a.speak();
          else if (next === 'b speaks') b.speak();
          else if (next === 'to a') deliver(b, a);
          else if (next === 'to b') deliver(a, b);
          else if (next === 'a registers') register(a, `a${count}`);
          else if (next === 'b registers') register(b, `b${count}`);
          else for (const side of [a, b]) register(side, `c${count}`);
        }
        a.speak();
        b.speak();
        settle(a, b);
        expect([a.peer?.hash, b.peer?.hash]).toEqual([b.registry.hash, a.registry.hash]);
        expect([nextStep(a.registry, a.state), nextStep(b.registry, b.state)]).toEqual([null, null]);
        for (const side of [a, b]) {
          const registrations = side.registry.version;
          expect(side.sent.filter((step) => step === 'delta').length).toBeLessThanOrEqual(registrations);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('payloads', () => {
  test('of an announcement', () => {
    expect(announcement(BASE, {})).toEqual({ version: 1, hash: BASE.hash.slice(0, 6) });
    expect(announcement(BASE, BOTH)).toEqual({
      version: 1,
      hash: BASE.hash.slice(0, 6),
      text: 'transliterate',
      sequence: 'sender',
    });
  });

  test('of a delta have all schemas beyond the profiles, and a long prefix of the hash', () => {
    const registry = registerOperation(REPORTS, 'deploy');
    const payload = registryDelta(registry, BOTH);
    expect(payload).toEqual({
      version: 3,
      hash: registry.hash.slice(0, 32),
      text: 'transliterate',
      sequence: 'sender',
      delta: { sales_report: REPORT },
      operations: ['deploy'],
    });
    expect(registryDelta(BASE, {})['delta']).toEqual({});
  });

  test('of a delta have a newer schema of a profile', () => {
    const { code, fields } = BASE.byCode('CH')!;
    const registry = registerSchema(BASE, 'chat', { code, version: 2, fields: [...fields, 'mood'] });
    expect(Object.keys(registryDelta(registry, {})['delta'] as JsonObject)).toEqual(['chat']);
    expect(applyDelta(readAnnouncement(registryDelta(registry, {}))).byCode('CH')).toEqual(registry.byCode('CH'));
  });

  test.each<[string, Json]>([
    ['a word', 'sprint_14'],
    ['a decimal', 0.5],
    ['null', null],
    ['an empty map', {}],
    ['empty text', ''],
    ['blanks', 'two words'],
    ['text like a number', '42'],
    ['text like a boolean', 'true'],
    ['other scripts', '\u00e4 \u65e5\u672c \ud83d\ude00'],
    ['half a surrogate pair', '\ud800'],
    ['control characters', '\u0000\n\u007f'],
    ['items', ['a', ['b c']]],
    ['members with any key', { '': { 'a b': [null] } }],
  ])('of a delta need no text policy for a default of %s', (_, value) => {
    const registry = registerSchema(BASE, 'x', { code: 'X', version: 1, fields: ['a'], defaults: { a: value } });
    const payload = registryDelta(registry, {});
    expect(applyDelta(readAnnouncement(overTheWire(payload))).byCode('X')?.defaults).toEqual({ a: value });
  });

  test.each<[JsonObject, Announcement]>([
    [
      { version: 3, hash: 'a7f2c1' },
      { version: 3, hash: 'a7f2c1' },
    ],
    [
      { version: 3, hash: 'A7F2C1', note: 'x' },
      { version: 3, hash: 'a7f2c1' },
    ],
    [
      { version: 3, hash: 123456 },
      { version: 3, hash: '123456' },
    ],
    [
      { version: 3, hash: 12345678901234567890n },
      { version: 3, hash: '12345678901234567890' },
    ],
    [
      { version: 3, hash: 'a7f2c1', text: 'shorthand' },
      { version: 3, hash: 'a7f2c1', text: undefined },
    ],
    [
      { version: 3, hash: 'a7f2c1', text: 'transliterate', sequence: 'session', delta: {}, operations: ['x'] },
      { version: 3, hash: 'a7f2c1', text: 'transliterate', sequence: 'session', delta: {}, operations: ['x'] },
    ],
  ])('are read: %o', (payload, expected) => {
    expect(readAnnouncement(payload)).toEqual(expected);
  });

  test.each<[string, JsonObject, string]>([
    ['no version', { hash: 'a7f2c1' }, 'payload.version'],
    ['a version of another kind', { version: '3', hash: 'a7f2c1' }, 'payload.version'],
    ['version 0', { version: 0, hash: 'a7f2c1' }, 'payload.version'],
    ['no hash', { version: 3 }, 'payload.hash'],
    ['a hash of another kind', { version: 3, hash: 1.5 }, 'payload.hash'],
    ['an endless hash', { version: 3, hash: 'a'.repeat(1_000) }, 'payload.hash'],
    ['an unknown sequence', { version: 3, hash: 'a7f2c1', sequence: 'random' }, 'payload.sequence'],
    ['a feature of another kind', { version: 3, hash: 'a7f2c1', text: true }, 'payload.text'],
    ['a delta of another kind', { version: 3, hash: 'a7f2c1', delta: [] }, 'payload.delta'],
    ['operations of another kind', { version: 3, hash: 'a7f2c1', delta: {}, operations: [1] }, 'payload.operations[0]'],
  ])('are rejected: %s', (_, payload, path) => {
    expect(refusal(() => readAnnouncement(payload))).toEqual(['E1004', path]);
  });
});

describe('a delta is verified', () => {
  const honest = registryDelta(registerOperation(REPORTS, 'deploy'), {});
  const forged = (change: object): Announcement => readAnnouncement({ ...honest, ...change } as JsonObject);

  test('and accepted if hash and version match', () => {
    const registry = applyDelta(forged({}));
    expect([registry.version, registry.byCode('SR')]).toEqual([3, REPORTS.byCode('SR')]);
    expect(matchesHash(registry, honest['hash'] as string)).toBe(true);
  });

  test.each<[string, object, string]>([
    ['another field', { delta: { sales_report: { ...REPORT, fields: ['period', 'notes', 'iban'] } } }, 'payload.hash'],
    [
      'another default',
      { delta: { sales_report: { ...REPORT, defaults: { period: 'x', notes: [] } } } },
      'payload.hash',
    ],
    ['another name', { delta: { report: REPORT } }, 'payload.hash'],
    ['a schema less', { delta: {} }, 'payload.hash'],
    ['a schema more', { delta: { sales_report: REPORT, x: { ...REPORT, code: 'X' } } }, 'payload.hash'],
    ['another operation', { operations: ['destroy'] }, 'payload.hash'],
    ['an operation less', { operations: [] }, 'payload.hash'],
    ['another hash', { hash: 'a7f2c1' }, 'payload.hash'],
    ['too short a hash', { hash: (honest['hash'] as string).slice(0, 5) }, 'payload.hash'],
    ['a hash of another make', { hash: 'sha1:xyz' }, 'payload.hash'],
    ['a version too low for it', { version: 2 }, 'payload.version'],
  ])('and rejected with %s', (_, change, path) => {
    expect(refusal(() => applyDelta(forged(change)))).toEqual(['E5001', path]);
  });

  test.each<[string, object, string]>([
    ['a faulty schema', { delta: { x: { ...REPORT, fields: [''] } } }, 'schemas.x.fields[0]'],
    ['a code of a profile', { delta: { x: { ...REPORT, code: 'ER' } } }, 'schemas.x.code'],
    ['no schema', { delta: { x: null } }, 'schemas.x'],
    ['defaults in bad JSON', { delta: { x: { ...REPORT, defaults: '{"a":' } } }, 'schemas.x.defaults'],
    ['defaults that are none', { delta: { x: { ...REPORT, defaults: '[1]' } } }, 'schemas.x.defaults'],
    ['a bad operation', { operations: ['a b'] }, 'operations[0]'],
    ['no delta', { delta: undefined }, 'payload.delta'],
  ])('and rejected as malformed with %s', (_, change, path) => {
    expect(refusal(() => applyDelta(forged(change)))).toEqual(['E1004', path]);
  });

  test.each<[string, Announcement, string | null]>([
    ['the same again', { version: 3, hash: 'aaaaaa' }, null],
    ['the same, longer', { version: 3, hash: 'aaaaaabb' }, null],
    ['a newer one', { version: 4, hash: 'bbbbbb' }, null],
    ['an older version', { version: 2, hash: 'aaaaaa' }, 'payload.version'],
    ['another registry under the same version', { version: 3, hash: 'bbbbbb' }, 'payload.hash'],
  ])('announced before: %s', (_, next, path) => {
    const before = announcementReceived(BASE, NEW_NEGOTIATION, { version: 3, hash: 'aaaaaa' });
    const error = refusal(() => announcementReceived(BASE, before, next));
    expect(error).toEqual(path === null ? null : ['E5001', path]);
  });
});
