/** The schema registry (draft-benzing-accp-00, section 6). */
import { describe, expect, test } from 'vitest';
import {
  type Codec,
  createCodec,
  createRegistry,
  createSession,
  type DecodeOutcome,
  exportRegistry,
  memoryStore,
  type RegistryJson,
  registerSchema,
  type Session,
} from '../../../src/accp/codec/index.js';
import { accepted, endpoints, rejected, taken, thrownBy } from './endpoints.js';

/** The draft's example of a registry. */
const EXAMPLE: RegistryJson = {
  schemas: {
    sales_report: {
      code: 'SR',
      version: 1,
      fields: ['period', 'revenue', 'growth_pct', 'segments', 'notes'],
      defaults: { period: 'quarterly', segments: [] },
    },
    task_assignment: {
      code: 'TA',
      version: 2,
      fields: ['assignee', 'task', 'priority', 'deadline', 'deps'],
      defaults: { priority: 'medium', deps: [] },
    },
  },
};
const TICKET = { code: 'TK', version: 1, fields: ['title', 'state'], defaults: { state: 'open' } };

describe('structure and use (sections 6.1 to 6.3)', () => {
  test('the draft’s example is a registry: codes, versions, fields and defaults', () => {
    const registry = createRegistry(EXAMPLE);
    for (const [name, definition] of Object.entries(EXAMPLE.schemas)) {
      expect(registry.schemas[name]).toMatchObject(definition);
      expect(registry.byCode(definition.code)).toBe(registry.schemas[name]);
    }
  });

  test('a registry is exported and imported as JSON', () => {
    const registry = registerSchema(createRegistry(EXAMPLE), 'ticket', TICKET);
    const again = createRegistry(JSON.parse(JSON.stringify(exportRegistry(registry))) as RegistryJson);
    expect([again.hash, again.version]).toEqual([registry.hash, registry.version]);
    expect(again.byCode('TK')).toEqual(registry.byCode('TK'));
  });

  test.each([
    ['no code', { version: 1, fields: ['a'] }],
    ['no version', { code: 'TK', fields: ['a'] }],
    ['no fields', { code: 'TK', version: 1 }],
    ['a version that is no number from 1 on', { code: 'TK', version: 0, fields: ['a'] }],
    ['a default of an unknown field', { code: 'TK', version: 1, fields: ['a'], defaults: { b: 1 } }],
    ['the code of another schema', { code: 'CH', version: 1, fields: ['a'] }],
  ])('a definition with %s is rejected with its path', (_what, definition) => {
    const { codec } = endpoints();
    const error = thrownBy(() => codec.registerSchema('ticket', definition as typeof TICKET));
    expect(error.code).toBe('E1004');
    expect(error.path).toMatch(/^schemas\.ticket/);
  });

  test('a code in a frame names the whole schema: the draft’s example', () => {
    const { codec, worker } = endpoints({ codec: { dialect: 'lenient', registry: createRegistry(EXAMPLE) } });
    const frame = '@planner>req:execute{schema:TA|assignee:@dev|task:auth_module|deadline:sprint_14}[mid:m1,seq:1]';
    const { message } = accepted(codec.decode(frame, worker));
    expect(message.schema).toBe('TA');
    expect({ ...message.payload }).toEqual({
      assignee: '@dev',
      task: 'auth_module',
      priority: 'medium',
      deadline: 'sprint_14',
      deps: [],
    });
  });

  test('a default does not replace a sent value', () => {
    const { codec, worker } = endpoints();
    const frame = '@planner>req:execute{schema:TA|task:auth|pri:high|deps:[x]}[mid:m1,seq:1]';
    expect(accepted(codec.decode(frame, worker)).message.payload).toMatchObject({ priority: 'high', deps: ['x'] });
  });

  test('an unknown code is an error in both directions', () => {
    const { codec, planner, worker } = endpoints();
    expect(thrownBy(() => codec.encode({ intent: 'req', operation: 'run', schema: 'ZZ' }, planner)).code).toBe('E1003');
    rejected(codec.decode('@planner>req:run{schema:ZZ}[mid:m1,seq:1]', worker), 'E1003');
  });
});

/** Two programs that share nothing but frames. */
interface Programs {
  readonly ends: readonly [Codec, Codec];
  readonly sessions: readonly [Session, Session];
}

function programs(left = createRegistry(), right = createRegistry()): Programs {
  const now = (): number => 1_714_000_000_000;
  return {
    ends: [createCodec({ now, registry: left }), createCodec({ now, registry: right })],
    sessions: [createSession({ agent: 'orchestrator', id: 's1' }), createSession({ agent: 'worker', id: 's1' })],
  };
}

/** Exchanges frames until there are no more answers; returns the bodies of all. */
function converse({ ends, sessions }: Programs, first: readonly string[], from: 0 | 1 = 0): readonly string[] {
  const sent: string[] = [];
  let frames = first;
  let to: 0 | 1 = from === 0 ? 1 : 0;
  for (let turn = 0; frames.length > 0; turn++) {
    expect(turn).toBeLessThan(10);
    sent.push(...frames.map((frame) => taken(frame).body));
    const outcomes: DecodeOutcome[] = frames.map((frame) => ends[to].decode(frame, sessions[to]));
    frames = outcomes.flatMap((outcome) => (outcome.outcome === 'pending' ? [] : [...accepted(outcome).replies]));
    to = to === 0 ? 1 : 0;
  }
  return sent;
}

describe('negotiation (section 6.4)', () => {
  test('the announcement has the draft’s form: version and hash', () => {
    const { ends, sessions } = programs();
    expect(taken(ends[0].announce(sessions[0]).frames[0]!).body).toMatch(
      /^@orchestrator>sync:registry\{v:1\|hash:(?=[0-9]*[a-f])[0-9a-f]{6,}[|}]/,
    );
  });

  test('the draft’s example is read', () => {
    const { codec, worker } = endpoints();
    const example = '@orchestrator>sync:registry{v:3|hash:a7f2c1}[mid:m1,seq:1]';
    expect(accepted(codec.decode(example, worker)).replies).toHaveLength(1);
    expect(worker.peers.get('orchestrator')).toMatchObject({ version: 3, hash: 'a7f2c1' });
  });

  test('both sides exchange their versions: an announcement is answered by another', () => {
    const both = programs();
    const sent = converse(both, both.ends[0].announce(both.sessions[0]).frames);
    expect(sent).toHaveLength(2);
    expect(both.sessions[0].peers.get('worker')?.version).toBe(1);
    expect(both.sessions[1].peers.get('orchestrator')?.version).toBe(1);
  });

  test('equal hashes: nothing more is exchanged, no matter how often it is announced', () => {
    const registry = createRegistry(EXAMPLE);
    const both = programs(registry, createRegistry(EXAMPLE));
    const sent = converse(both, both.ends[0].announce(both.sessions[0]).frames);
    expect(sent).toHaveLength(2);
    expect(sent.join()).not.toContain('delta');
    expect(converse(both, both.ends[0].announce(both.sessions[0]).frames)).toHaveLength(1);
  });

  test('different hashes: missing schemas are sent once, and stored', () => {
    const both = programs(registerSchema(createRegistry(), 'ticket', TICKET));
    const sent = converse(both, both.ends[0].announce(both.sessions[0]).frames);
    expect(sent.filter((body) => body.includes('delta:{ticket:'))).toHaveLength(1);
    const again = converse(both, both.ends[0].announce(both.sessions[0]).frames);
    expect(again.join()).not.toContain('delta:{ticket:');

    const [codec, other] = both.ends;
    const { frames } = codec.encode(
      { intent: 'req', operation: 'notify', schema: 'TK', payload: { title: 'x', state: 'open' } },
      both.sessions[0],
    );
    expect(taken(frames[0]!).body).toBe('@orchestrator>req:notify{title:x|schema:TK}');
    const { message } = accepted(other.decode(frames[0]!, both.sessions[1]));
    expect({ ...message.payload }).toEqual({ title: 'x', state: 'open' });
  });

  test('received schemas are stored with the session, and available after a resume', () => {
    const store = memoryStore();
    const worker = (): Session => createSession({ agent: 'worker', id: 's1', store });
    const both = programs(registerSchema(createRegistry(), 'ticket', TICKET));
    const first = { ...both, sessions: [both.sessions[0], worker()] as const };
    converse(first, both.ends[0].announce(both.sessions[0]).frames);
    first.sessions[1].close();
    const later = {
      ...both,
      ends: [both.ends[0], createCodec({})] as const,
      sessions: [both.sessions[0], worker()] as const,
    };
    expect(later.sessions[1].resumed).toBe(true);
    const { frames } = both.ends[0].encode(
      { intent: 'req', operation: 'notify', schema: 'TK', payload: { title: 'x' } },
      both.sessions[0],
    );
    expect(accepted(later.ends[1].decode(frames[0]!, later.sessions[1])).message.payload['state']).toBe('open');
  });

  test('a schema that is registered later is announced with its delta', () => {
    const both = programs();
    converse(both, both.ends[0].announce(both.sessions[0]).frames);
    both.ends[0].registerSchema('ticket', TICKET);
    converse(both, both.ends[0].announce(both.sessions[0]).frames);
    const { frames } = both.ends[0].encode(
      { intent: 'req', operation: 'notify', schema: 'TK', payload: { title: 'x' } },
      both.sessions[0],
    );
    expect(accepted(both.ends[1].decode(frames[0]!, both.sessions[1])).message.payload['state']).toBe('open');
  });
});

describe('integrity (section 9, item 4)', () => {
  /** The frame with the schemas of one side, tampered with on its way. */
  function delta(tamper: (frame: string) => string): DecodeOutcome {
    const both = programs(registerSchema(createRegistry(), 'ticket', TICKET));
    const [codec, other] = both.ends;
    const [own, peer] = both.sessions;
    const announced = accepted(other.decode(codec.announce(own).frames[0]!, peer));
    const answered = accepted(codec.decode(announced.replies[0]!, own));
    const frame = answered.replies.find((reply) => reply.includes('delta:{ticket:'))!;
    expect(tamper(frame)).toBeTypeOf('string');
    const outcome = other.decode(tamper(frame), peer);
    const message = `@orchestrator>req:notify{title:x|schema:TK}[mid:z1,seq:${outcome.outcome === 'rejected' ? 5 : 4}]`;
    expect(other.decode(message, peer)).toMatchObject(
      outcome.outcome === 'rejected' ? { outcome: 'rejected', error: { code: 'E1003' } } : { outcome: 'message' },
    );
    return outcome;
  }

  test('a registry with the announced hash is accepted', () => {
    expect(delta((frame) => frame)).toMatchObject({ outcome: 'message' });
  });

  test.each<readonly [string, (frame: string) => string]>([
    ['another field', (frame) => frame.replace('title', 'tidle')],
    ['another code', (frame) => frame.replace('code:TK', 'code:TL')],
    ['another default', (frame) => frame.replace('open', 'shut')],
    ['another hash', (frame) => frame.replace(/hash:[0-9a-f]+/, 'hash:abc123')],
  ])('one with %s is rejected, and none of its schemas are used', (_what, tamper) => {
    expect(delta(tamper)).toMatchObject({ outcome: 'rejected', error: { code: 'E5001' } });
  });

  test('another registry under a version that was announced before is rejected', () => {
    const { codec, worker } = endpoints({ session: { sequence: 'sender' } });
    accepted(codec.decode('@orchestrator>sync:registry{v:3|hash:a7f2c1}[mid:m1,seq:1]', worker));
    rejected(codec.decode('@orchestrator>sync:registry{v:3|hash:b8f2c1}[mid:m2,seq:2]', worker), 'E5001');
  });
});
