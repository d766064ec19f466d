/**
 * Generates the conformance cases of compact frames: the frames of an encoder with a fixed seed, and frames written by hand, with the results of
 * the decoder. The output is committed, so that a change of either is seen. Run it only after such a change was intended.
 *
 *     npx tsx scripts/compact-courses.ts
 */
import { writeFile } from 'node:fs/promises';
import type { Param, Value } from '../src/accp/ast.js';
import { printFrame } from '../src/accp/print.js';
import { createRegistry, type Registry, type RegistryJson, shortHash } from '../src/accp/registry/registry.js';
import { Compaction } from '../src/accp/session/compaction.js';
import { metadataText } from '../src/accp/session/envelope.js';
import { Collection, type Journal } from '../src/accp/store/journal.js';
import { createRandom, type Random } from '../src/text/random.js';
import { ESTIMATING_COUNTER } from '../src/tokens/counter.js';
import { type Course, Reader, type Step } from '../test/accp/compact/courses.js';

const FOLDER = new URL('../test/conformance/compact/', import.meta.url);

/** The frames of one course: encoded with `send`, written by hand with `write`. */
class Sending {
  readonly #sequence: Course['sequence'];
  readonly #compaction: Compaction;
  readonly #registry;
  readonly #numbers = new Map<string, number>();
  readonly frames: string[] = [];

  constructor({ sequence, registry }: Pick<Course, 'sequence' | 'registry'>) {
    this.#sequence = sequence;
    this.#registry = createRegistry(registry);
    const journal = { collection: () => new Collection(null) } as unknown as Journal;
    this.#compaction = new Compaction({ journal, mode: sequence, counter: ESTIMATING_COUNTER, peers: new Map() });
  }

  send(plain: string, isCompact = true): void {
    const agent = /^@([\w-]+)/.exec(plain)![1]!;
    const { body, table } = this.#compaction.shorten(agent, plain, isCompact ? this.#registry : null);
    this.#compaction.owners.settle();
    this.#add(agent, body, table);
  }

  sendAll(plain: readonly string[]): void {
    for (const one of plain) this.send(one);
  }

  reset(agent: string): void {
    this.#compaction.reset(agent);
  }

  write(body: string, table?: string, agent = /^@([\w-]+)/.exec(body)![1]!): void {
    this.#add(agent, body, table);
  }

  #add(agent: string, body: string, table: string | undefined): void {
    const key = this.#sequence === 'session' ? '' : agent;
    const seq = this.#numbers.get(key) ?? 1;
    const metadata = metadataText({ mid: `m${this.frames.length + 1}`, seq, ts: 1_714_000_000, table });
    this.frames.push(body + metadata);
    this.#numbers.set(key, seq + 1);
  }
}

interface Options extends Pick<Course, 'sequence' | 'registry'> {
  /** The number of frames after which the tables are listed. @default 1 */
  readonly every?: number;
}

function course(id: string, name: string, { every = 1, ...options }: Options, run: (sending: Sending) => void): Course {
  const sending = new Sending(options);
  run(sending);
  const reader = new Reader(options);
  const { frames } = sending;
  const steps = frames.map((frame, at): Step => {
    const result = reader.read(frame);
    const isListed = at % every === every - 1 || at === frames.length - 1 || result.error !== undefined;
    return { frame, ...result, ...(isListed ? { tables: reader.tables() } : {}) };
  });
  const hash = options.registry === undefined ? {} : { hash: createRegistry(options.registry).hash };
  return { id: `compact/${id}`, name, ...options, ...hash, steps };
}

const REGISTRY: RegistryJson = {
  schemas: {
    report: { code: 'RP', version: 1, fields: ['query', 'rows', 'note'], operations: ['report', 'digest'] },
    audit: { code: 'AU', version: 1, fields: ['target', 'reason'] },
    chat: {
      code: 'CH',
      version: 2,
      fields: ['role', 'content', 'turn', 'lang', 'reply_to', 'mood'],
      operations: ['chat'],
    },
  },
  operations: ['lookup'],
  compact: {
    shapes: [
      { operation: 'lookup', fields: ['query', 'limit', 'source'] },
      { operation: 'digest', schema: 'RP', fields: ['query', 'rows', 'note'] },
      { schema: 'TA', fields: ['progress', 'assignee'] },
      { fields: ['name', 'due', '1st', '_2'] },
      { operation: 'close', fields: [] },
      { operation: 'merge', fields: ['query', 'q', 'limit'] },
    ],
    strings: ['in_progress', 'blocked', 'in_progress', '2026-01-01', '#tag'],
    agents: ['planner', 'worker-1'],
  },
};

/** Registries as they are announced. */
const HASHED: readonly (readonly [id: string, name: string, registry: RegistryJson])[] = [
  ['common', 'the schemas of the profiles', { schemas: {} }],
  [
    'compact',
    'a schema, shapes and strings',
    {
      schemas: { report: { code: 'RP', version: 1, fields: ['query', 'rows'], operations: ['report'] } },
      compact: {
        shapes: [{ operation: 'lookup', fields: ['query', 'limit'] }, { fields: ['name', 'due'] }],
        strings: ['in_progress'],
      },
    },
  ],
  ['operations', 'operations without a schema', { schemas: {}, operations: ['lookup', 'close', 'lookup'] }],
  [
    'empty',
    'empty lists, which are left out',
    { schemas: {}, operations: [], compact: { shapes: [], strings: ['in_progress'], agents: [] } },
  ],
  ['nothing', 'nothing but empty lists', { schemas: {}, operations: [], compact: { shapes: [] } }],
  ['all', 'a profile that was extended, and repetitions', REGISTRY],
];

/** Begins tables with it. */
const REG = `reg.${shortHash(createRegistry(REGISTRY).hash)}`;

/** Frames with every spelling. */
const SPELLINGS = [
  '@a>req:find{q:users|limit:10|deep:true|none:~|rate:0.25}',
  '@a>req:find{q:orders|limit:-20|deep:false|none:~|rate:142.5}',
  '@a>req:find{q:teams|rate:1.0}',
  '@a>req:find{rate:1.0|q:teams}',
  '@a>req:mark{a:-|b:#|c:#-|d:##x|e:#20260408|f:-x|g:--}',
  '@a>req:dates{a:2026-04-08|b:09\\:05|c:09\\:05\\:27|d:2026-04-08T09\\:05|e:2026-04-08T09\\:05\\:27Z|f:2026-04-08T09\\:05\\:27.123456789Z|g:2026-04-08T09\\:05\\:27.5+05\\:30|h:2026-04-08T09\\:05-05\\:00|i:9999-99-99|j:99\\:99}',
  '@a>req:edges{a:1900-01-01|b:1899-12-31|c:2173-10-15|d:2173-10-16|e:2026-02-29|f:2024-02-29|g:0000-01-01}',
  '@a>req:edges{a:00\\:00|b:23\\:59|c:24\\:00|d:24\\:00\\:00|e:00\\:10|f:20\\:00}',
  '@a>req:edges{a:2020-01-01T00\\:00\\:00Z|b:2019-12-31T23\\:59\\:59Z|c:2051-09-08T01\\:46\\:39Z|d:2051-09-08T01\\:46\\:40Z|e:2026-12-31T23\\:59\\:60Z|f:2026-04-08T24\\:00\\:00Z|g:2026-04-08T09\\:05\\:27.000Z|h:2026-04-08T09\\:05\\:27.5Z}',
  '@a>req:dates{a:2026-04-08|b:09\\:06|c:2026-4-8|d:2026-04-08T|e:2026-04-08T09|f:2026-04-08T09\\:05\\:27.Z|g:09\\:05\\:27.5|h:2026-04-08T09\\:05+0530}',
  '@a>req:keys{1:a|_1:b|__1:c|_a:d|m:{0:e,_0:f,__0:g,_b:h}}',
  '@a>req:keys{7:a}',
  '@a>req:keys{m:{7:a}}',
  '@a>req:refs{a:$5|b:$.5|c:$..5|d:$warm.x.1|e:$007|f:$1.2|g:[$0,$12345678901]}',
  '@a>req:escapes{a:\\@x\\>\\:\\{\\}|b:\\[\\]\\|\\$\\,\\~\\\\|c:\\@x\\>\\:\\{\\}}',
  '@a>req:numbers{a:12345678901234567890123|b:-0.000001|c:1e5|d:1.2.3|e:truee|f:12abc}',
  '@a>req:empty{}',
  '@a>req:empty{}',
  '@a>req:lists{a:[]|b:{}|c:[[]]|d:[{}]|e:[{},{}]|f:{k:1}}',
  '@a>req:lists{a:[]|b:{}|c:[[]]|d:[{}]|e:[{},{}]|f:{k:1}}',
  '@a>req:urls{a:https\\://x.org/a|b:https\\://|c:http\\://x.org|d:https\\:/x|e://x|f:#//x|g:https\\://x.org/a}',
  '@a>req:words{s:abc|t:abcd|u:abc|v:abcd|w:abcd}',
];

const TABLES = [
  '@a>done:list{rows:[{name:impl_auth,due:2026-04-08,size:3},{name:write_docs,due:2026-04-09,size:5},{name:impl_auth,due:2026-04-09}]}',
  '@a>done:list{rows:[{name:test_all,due:2026-04-08,size:3},{name:write_docs,due:2026-04-08}]}',
  '@a>done:list{first:{due:2026-04-08,name:impl_auth,size:3}|rows:[{name:x,size:1},{due:2026-04-08}]}',
  '@a>done:list{first:{due:2026-04-08,name:impl_auth}|last:{size:3}}',
  '@a>done:nested{rows:[{id:1,tags:[red,blue]},{id:2,tags:[blue]},{id:3,tags:[]}]}',
  '@a>done:nested{m:{inner:{left:1,right:2},outer:{left:3,right:4}}}',
  '@a>done:nested{m:{inner:{left:1,right:2},outer:{left:3,right:4}}|n:{left:5,right:6}}',
  '@a>done:nested{m:{rows:[{left:1,right:2},{left:3,right:4}]}}',
  '@a>done:nested{m:{rows:[{left:1,right:2},{left:3,right:4}],total:2}}',
  '@a>done:nested{m:{rows:[{left:1,right:2},{left:3,right:4}],total:2}}',
  '@a>done:deep{a:[[[[[1]]]]]|b:{x:{x:{x:{x:{x:deepest}}}}}|c:[{x:[{x:[1]},{x:[2]}]},{x:[]}]}',
  '@a>done:deep{a:[[[[[1]]]]]|b:{x:{x:{x:{x:{x:deepest}}}}}|c:[{x:[{x:[1]},{x:[2]}]},{x:[]}]}',
  '@a>done:single{rows:[{k:1},{k:2},{k:3}]}',
  '@a>done:odd{rows:[{true:1,b:2},{true:3,b:4}]|digits:[{1:a,b:2},{1:c,b:4}]}',
  '@a>done:odd{rows:[{true:1,b:2},{true:3,b:4}]|digits:[{1:a,b:2},{1:c,b:4}]}',
  '@a>done:absent{rows:[{a:-,b:#-,c:1},{a:2,c:3},{b:4}]}',
];

const SCHEMAS = [
  '@a>req:assign{asgn:dev_team|task:impl_auth|pri:high|schema:TA}',
  '@a>req:assign{asgn:dev_team|pri:high|schema:TA}',
  '@a>req:assign{dead:2026-04-08|task:write_docs|asgn:dev_team|schema:TA}',
  '@a>req:assign{task:write_docs|own:key|schema:TA}',
  '@a>req:other{task:write_docs|asgn:dev_team|schema:TA}',
  '@a>req:none{schema:TA}',
  '@a>req:tool{tool:web_search|args:{limit:3,q:agents}|schema:TC}',
  '@a>done:tool{tool:web_search|res:[{title:one,url:x},{title:two,url:y}]|stat:success|schema:TC}',
  '@a>done:chat{content:hello|turn:1|schema:CH}',
  '@a>done:x{a:1|schema:a-b}',
  '@a>done:x{a:1|schema:a-b}',
  '@a>done:x{schema:TA|a:1}',
  '@a>sync:state{v:3|delta:{a:1,b:~}}',
];

const PLAIN = [
  '@a>ping:x{k:##1}',
  '@a>sync:resync{from:9}',
  '@a>sync:registry{v:1|hash:6bed90}',
  '@a>fail:error{code:E9999|msg:#20260408|retry:false|schema:ER}',
  '@a>fail:other{code:E9999|msg:#20260408|retry:false|schema:ER}',
];

function words(count: number, length: number, first = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => `w${first + at}`.padEnd(length, '_'));
}

const evictions: readonly Course[] = [
  course(
    'evict/strings',
    'the oldest of 512 strings are removed, and numbers repeat',
    { sequence: 'sender', every: 6 },
    (sending) => {
      for (let at = 0; at < 6; at++) sending.send(`@a>req:x{list:[${words(100, 5, 100 * at).join(',')}]}`);
      sending.send(`@a>req:x{list:[${words(4, 5, 86).join(',')},${words(2, 5, 0).join(',')}]}`);
      sending.send(`@a>req:x{list:[${words(2, 5, 598).join(',')}]}`);
    },
  ),
  course(
    'evict/long-strings',
    'long strings are removed by their weight',
    { sequence: 'sender', every: 100 },
    (sending) => {
      for (let at = 0; at < 20; at++) sending.send(`@a>req:x{list:[${words(10, 96 - (at % 3), 10 * at).join(',')}]}`);
      sending.send(`@a>req:x{list:[${words(1, 97).join(',')},${words(1, 97).join(',')},abc,abc]}`);
    },
  ),
  course(
    'evict/shapes',
    'the oldest of 128 shapes are removed, and numbers repeat',
    { sequence: 'sender', every: 3 },
    (sending) => {
      for (let at = 0; at < 3; at++) {
        const maps = words(50, 3, 50 * at).map((key) => `{a${key}:1,b${key}:2}`);
        sending.send(`@a>req:x{list:[${maps.join(',')}]}`);
      }
      sending.send('@a>req:x{list:[{aw0_:1,bw0_:2},{aw149:1,bw149:2}]|again:{aw149:3,bw149:4}}');
      sending.send('@a>req:x{one:{aw149:1,bw149:2}|two:{aw0_:1,bw0_:2}}');
    },
  ),
  course(
    'evict/wide-shapes',
    'wide shapes are removed by their weight',
    { sequence: 'sender', every: 100 },
    (sending) => {
      for (let at = 0; at < 12; at++)
        sending.send(
          `@a>req:x{m:{${words(20, 60, 20 * at)
            .map((key) => `${key}:1`)
            .join(',')}}}`,
        );
      sending.send(
        `@a>req:x{m:{${words(140, 60, 0)
          .map((key) => `${key}:1`)
          .join(',')}}|n:{a:1,b:2}}`,
      );
      sending.send(
        `@a>req:x{m:{${words(140, 60, 0)
          .map((key) => `${key}:1`)
          .join(',')}}|n:{a:1,b:2}}`,
      );
    },
  ),
  course('evict/removed', 'a removed entry is unknown', { sequence: 'sender', every: 100 }, (sending) => {
    sending.write('@a>req:x{list:[abcd]}', 'new');
    for (let at = 0; at < 6; at++) sending.write(`@a>req:x${at}{list:[${words(100, 5, 100 * at).join(',')}]}`);
    sending.write('@a>req:y{list:[$511,$0,$88]}');
    sending.write('@a>req:y{list:[$89]}');
    sending.write('@a>req:y{list:[abcd,$0]}', 'new');
    for (let at = 0; at < 17; at++) sending.write(`@a>req:z{list:[${words(10, 96, 10 * at).join(',')}]}`);
    sending.write('@a>req:y{list:[$170]}');
    sending.write('@a>req:y{list:[$1]}');
  }),
];

const sharing: readonly Course[] = [
  course('shared/agents', 'the agents of an endpoint share tables', { sequence: 'session' }, (sending) => {
    sending.send('@planner>req:lookup{q:users_all|limit:10}');
    sending.send('@planner>req:lookup{q:orders|limit:20}');
    sending.send('@helper>req:lookup{q:users_all|limit:30}');
    sending.send('@helper>done:note{text:short_note|by:helper}');
    sending.send('@planner>done:note{text:short_note|by:planner}');
    sending.send('@planner>done:note{}');
    sending.send('@planner>done:note{}');
    for (const plain of PLAIN) sending.send(plain.replace('@a', '@helper'));
    sending.send('@third>done:note{text:short_note|by:third}');
    sending.send('@helper>req:12{a:#1}');
    sending.send('@third>done:note{text:##1|by:third}', false);
    sending.send('@third>done:note{text:##1|by:third}');
    sending.send('@planner>done:note{text:##1|by:short_note}');
    sending.reset('planner');
    sending.send('@planner>done:note{text:##1|by:short_note}');
    sending.send('@third>done:note{text:##1|by:short_note}');
  }),
  course(
    'shared/numbers',
    'agents that share tables, by number',
    { sequence: 'session', registry: REGISTRY },
    (sending) => {
      sending.send('@planner>req:find{q:users|limit:10}');
      sending.send('@document_reviewer>req:find{q:orders|limit:20}');
      sending.send('@document_reviewer>req:find{q:teams|limit:30}');
      sending.send('@planner>req:find{q:users|limit:40}');
      sending.write('@2>req:19{4:[a,1]}');
      sending.write('@3>req:x{k:1}', '5');
      sending.write('@3>req:x{k:##1}');
      sending.write('@1>req:19{6:[a,1]}');
      sending.write('@4>req:19{6:[a,1]}');
      sending.write('@other>req:find{q:x|limit:1}', 'new.0');
      sending.write('@0>req:11{1:[y,2]}');
      sending.write('@2>req:19{6:[a,1]}');
      sending.write('@0>req:19{7:[a,1]}');
      sending.write('@9>req:x{k:1}', 'new.0');
      sending.write('@9>req:x{k:2}', '1');
    },
  ),
  course('shared/written', 'counts, and agents that change tables', { sequence: 'session' }, (sending) => {
    sending.write('@a>req:x{k:1|l:abcd}', 'new.998');
    sending.write('@a>req:11{999:[2,$0]}');
    sending.write('@b>req:11{0:[3,$0]}', 'as.a');
    sending.write('@b>req:11{1:[4]}');
    sending.write('@a>req:y{}', '2');
    sending.write('@a>req:12{}', '3');
    sending.write('@c>req:x{k:5|l:efgh}', 'as.a.4');
    sending.write('@c>req:x{k:6|l:ijkl}', 'new');
    sending.write('@c>req:11{1:[7,$0]}');
    sending.write('@b>req:12{2:[$0]}', 'as.c');
    sending.write('@b>req:11{2:[8,$0]}', 'as.c');
    sending.write('@c>req:x{k:8}', 'off');
    sending.write('@c>req:x{k:##8}');
    sending.write('@c>req:x{k:##8}', 'new.500');
    sending.write('@a>req:11{501:[10]}', 'as.c');
    sending.write('@a>req:x{k:##9}', 'new.7');
    sending.write('@a>req:11{8:[10]}');
  }),
  course(
    'shared/broken',
    'counts of broken tables, and of forms with two counts',
    { sequence: 'session' },
    (sending) => {
      sending.write('@a>req:x{k:1|l:abcd}', 'new');
      sending.write('@b>req:11{1:[2,$0]}', 'as.a');
      sending.write('@a>req:11{2:[$9]}');
      sending.write('@b>req:11{3:[1]}');
      sending.write('@b>req:11{2:[1]}');
      sending.write('@c>req:11{2:[1]}', 'as.a');
      sending.write('@a>req:x{k:1|l:abcd}', 'new.5');
      sending.write('@c>req:11{6:[1]}', 'as.a.9');
      sending.write('@c>req:11{k:1}', '7');
      sending.write('@a>req:11{1000:[1]}');
      sending.write('@b>req:11{8:[1]}', 'as.c');
      sending.write('@b>req:x{k:1}', 'as.c');
      sending.write('@b>req:x{k:1}', 'as.a.8');
    },
  ),
  course('shared/lost', 'a wrong count is a gap', { sequence: 'session' }, (sending) => {
    sending.write('@a>req:x{k:1|l:abcd}', 'new.5');
    sending.write('@a>req:11{7:[2,$0]}');
    sending.write('@a>sync:resync{from:2}');
    sending.write('@a>req:x{k:3|l:efgh}', 'new.9');
    sending.write('@a>req:11{10:[2,$0]}');
    sending.write('@a>req:y{k:4}', '12');
  }),
  course(
    'shared/lost-count',
    'a frame without a count is a gap, if the agent has tables',
    { sequence: 'session' },
    (sending) => {
      sending.write('@a>req:x{k:1|l:abcd}', 'new');
      sending.write('@a>req:x{k:1|l:abcd}');
    },
  ),
  course('shared/unknown-count', 'a count is a gap, if the agent has no tables', { sequence: 'session' }, (sending) => {
    sending.write('@b>req:x{k:1|l:abcd}');
    sending.write('@b>req:12{5:[1]}', 'off');
    sending.write('@a>req:x{k:1|l:abcd}', '3');
  }),
];

/** A random plain frame. Few keys, operations and strings, so that they repeat. */
function randomFrame(random: Random, agents: readonly string[]): string {
  const operation = random.pick(['find', 'list', 'report', 'x1', 'tool']);
  const schema = random.next() < 0.2 ? random.pick(['TA', 'RP', 'AU']) : undefined;
  const payload = randomParams(random, random.integer(0, 4), 5);
  if (schema !== undefined) payload.push({ key: 'schema', value: { kind: 'string', value: schema } });
  const intent = random.pick(['req', 'done', 'stream', 'fail']);
  return printFrame({ kind: 'frame', agent: random.pick(agents), intent, operation, payload, metadata: null });
}

const KEYS = ['a', 'b', 'name', 'due', 'rows', 'q', 'asgn', 'task', '1', '_1', '__2', 'Z'];
const STRINGS = [
  'impl_auth',
  'write_docs',
  'abc',
  '-',
  '#',
  '#-',
  '##',
  '#1234',
  '2026-04-08',
  '09:05',
  '2026-04-08T09:05:27Z',
  'a|b',
  '$x',
  '1.2.3',
];

function randomParams(random: Random, count: number, levels: number): Param[] {
  return random.sample(KEYS, count).map((key) => ({ key, value: randomValue(random, levels) }));
}

function randomValue(random: Random, levels: number): Value {
  const kind = random.integer(0, levels === 0 ? 6 : 11);
  if (kind < 3) return { kind: 'string', value: random.pick(STRINGS) };
  if (kind === 3) return { kind: 'integer', value: random.integer(-20, 2000) };
  if (kind === 4) return { kind: 'decimal', value: random.integer(-99, 99) / 8 };
  if (kind === 5) return random.pick([{ kind: 'null' }, { kind: 'boolean', value: true }]);
  if (kind === 6) return { kind: 'ref', path: random.pick(['0', '.7', '12', 'warm.x', '007', '..']) };
  if (kind < 9) return { kind: 'map', entries: randomParams(random, random.integer(0, 3), levels - 1) };
  if (kind === 9)
    return {
      kind: 'array',
      items: Array.from({ length: random.integer(0, 3) }, () => randomValue(random, levels - 1)),
    };
  if (levels < 2) return { kind: 'array', items: [] };
  const keys = random.sample(KEYS, random.integer(1, 3));
  const row = (): Value => {
    const own = keys.filter(() => random.next() < 0.85);
    const entries = (own.length === 0 ? keys : own).map((key) => ({ key, value: randomValue(random, levels - 2) }));
    return { kind: 'map', entries };
  };
  return { kind: 'array', items: Array.from({ length: random.integer(2, 4) }, row) };
}

function randomCourse(at: number): Course {
  const sequence = at % 2 === 0 ? 'sender' : 'session';
  const options: Options = { sequence, every: 20, ...(at < 4 ? {} : { registry: REGISTRY }) };
  return course(`random/${at}`, `random frames, seed ${at}`, options, (sending) => {
    const random = createRandom(at);
    for (let count = 0; count < 40; count++) {
      if (random.next() < 0.03) sending.reset('planner');
      sending.send(randomFrame(random, ['planner', 'worker-1', 'x']), random.next() > 0.03);
    }
  });
}

const sender = { sequence: 'sender' } as const;

const COURSES: readonly Course[] = [
  course('spellings', 'strings, keys and references', sender, (sending) => sending.sendAll(SPELLINGS)),
  course('tables', 'tables and numbered maps', sender, (sending) => sending.sendAll(TABLES)),
  course('schemas', 'payloads with a schema', sender, (sending) => sending.sendAll(SCHEMAS)),
  course('registry', 'the entries of a registry', { ...sender, registry: REGISTRY }, (sending) => {
    for (const plain of SCHEMAS.slice(0, 9)) sending.send(plain.replace('@a', '@planner'));
    sending.send('@planner>req:lookup{q:users|limit:10}');
    sending.send('@planner>req:lookup{src:blocked|q:2026-01-01|limit:10}');
    sending.send('@worker-1>done:report{q:#tag|rows:[{due:2026-01-01,name:in_progress},{1st:x,name:y}]|schema:RP}');
    sending.send('@worker-1>done:digest{q:#tag|rows:[{_2:1,1st:2,due:3,name:4},{_2:5,1st:6,due:7,name:8}]|schema:RP}');
    sending.send('@worker-1>done:other{who:planner|why:blocked|schema:AU}');
    sending.send('@worker-1>done:close{}');
    sending.send('@worker-1>done:assign{prog:0.5|asgn:planner|schema:TA}');
    sending.send('@other>done:chat{content:hello|mood:calm|schema:CH}');
    sending.send('@other>done:merge{q:hello|limit:3}');
  }),
  course(
    'named-agents',
    'agents by number, and names that are numbers',
    { ...sender, registry: REGISTRY },
    (sending) => {
      sending.write('@0>req:x{k:1|l:abcd}', REG);
      sending.write('@0>req:x{k:2|l:$4}', '7');
      sending.write('@0>req:x{k:##1}');
      sending.write('@0>req:0{0:[1,{a:2}]}');
      sending.write('@0>req:assign{7:[bob]}');
      sending.write('@1>req:x{k:1|l:abcd}', 'new');
      sending.write('@0>req:x{k:##1}', 'off');
      sending.write('@planner>req:x{k:3|l:$4}');
      sending.write('@9>req:x{k:1|l:abcd}', REG);
      sending.write('@planner>req:x{k:1}', 'reg.ffffff');
      sending.write('@0>req:x{k:1}');
      sending.write('@x>req:x{k:1}', 'reg.ffffff');
      sending.write('@x>req:x{k:1}');
      sending.write('@1>req:x{k:1|l:abcd}', 'new');
      sending.write('@worker-1>req:x{k:1|l:efgh}', REG);
      sending.write('@1>req:x{k:2|l:$0}');
      sending.write('@1>req:11{0:[3,$0]}');
    },
  ),
  course('always-plain', 'frames that are always plain', sender, (sending) => {
    for (const plain of PLAIN) sending.send(plain);
    sending.send('@a>req:x{k:##1|l:abcd}');
    for (const plain of PLAIN) sending.send(plain);
    sending.send('@a>req:x{k:##1|l:abcd}');
  }),
  course(
    'plain-with-tables',
    'frames that are always plain ignore tbl, and come from no compact one',
    sender,
    (sending) => {
      sending.write('@a>ping:x{k:##1}', 'new');
      sending.write('@a>req:x{k:##1}');
      sending.write('@a>req:registry{v:1}', 'new');
      sending.write('@a>sync:11{0:[1]}');
      sending.write('@a>req:x{k:1}', 'new');
      sending.write('@a>fail:4{0:[E9999,boom]}');
      sending.write('@a>req:x{k:1}', 'new');
      sending.write('@a>done:x{4:[E9999]}');
      sending.write('@a>req:x{k:1}', 'new');
      sending.write('@a>done:11{0:[1]|schema:ER}');
      sending.write('@a>done:11{0:[2]|schema:TA}');
    },
  ),
  course('off', 'plain frames between tables', sender, (sending) => {
    sending.send('@a>req:x{k:##1|l:abcd}', false);
    sending.send('@a>req:x{k:##1|l:abcd}');
    sending.send('@a>req:x{k:##1|l:abcd}');
    sending.send('@b>req:x{k:##1|l:abcd}');
    sending.send('@a>req:12{0:[1]}');
    sending.send('@a>req:x{k:##1|l:abcd}', false);
    sending.send('@b>req:x{k:##1|l:abcd}');
    sending.send('@a>req:x{k:##1|l:abcd}');
    sending.reset('a');
    sending.send('@a>req:x{k:##1|l:abcd}');
    sending.send('@a>req:x{k:##1|l:abcd}');
  }),
  course('written', 'forms that another encoder may choose', sender, (sending) => {
    sending.write('@a>req:find{q:users|limit:10}', 'new');
    sending.write('@a>req:11{123456789:[teams]}');
    sending.write('@a>req:11{0:[]}');
    sending.write('@a>req:11{}');
    sending.write('@a>req:11{7:[-,-]}');
    sending.write('@a>req:find{q:2026-04-08|limit:09\\:05}');
    sending.write('@a>req:x{a:$0|b:{_12:x,m:{_5:1}}}');
    sending.write('@a>req:x{rows:{0:[[b,a],[1,2],[-,3],[]]}}');
    sending.write('@a>req:x{rows:{0:[[b,a]]}|one:{31:[1]}|none:{32:[]}}');
    sending.write('@a>req:x{m:{b:1,a:2}|n:{a:1,b:2}}');
    sending.write('@a>req:x{rows:{0:[[k,_1],[abcd,{k:efgh,_1:$1}],[$0,{k:$2,_1:[$1]}]]}}');
    sending.write('@a>req:assign{7:[]}');
    sending.write('@a>req:assign{7:[-,-,-,$0]}');
    sending.write('@a>done:8{0:[search,{0:[[a],[1]]}]}');
    sending.write('@a>req:x{schema:TA}');
    sending.write('@a>req:x{a:1}');
    sending.write('@a>req:x{a:$007|b:$0123|c:$1234567890}');
    sending.write('@a>req:x{k:1|l:2}', 'new');
    sending.write('@a>req:11{0:[3]}', 'off');
    sending.write('@a>req:11{0:[3]}');
    sending.write('@a>req:x{k:1|l:2}', REG);
    sending.write('@a>req:11{0:[3]}');
  }),
  ...evictions,
  ...sharing,
  ...Array.from({ length: 6 }, (_, at) => randomCourse(at)),
];

/** Bodies that must be rejected, after a frame that teaches the shape 11 (operation x, keys k and m), 12 (keys a and b) and the string 0. */
const REJECTED: readonly (readonly [id: string, body: string, table?: string])[] = [
  ['unknown-operation', '@a>req:99{0:[1]}'],
  ['unknown-map', '@a>req:x{k:{99:[1]}}'],
  ['unknown-table', '@a>req:x{k:{100:[[1]]}}'],
  ['unknown-string', '@a>req:x{k:$9}'],
  ['unknown-payload', '@a>req:x{99:[1]}'],
  ['operation-without-operation', '@a>req:6{0:[1]}'],
  ['operation-of-map', '@a>req:12{0:[1]}'],
  ['operation-two-lists', '@a>req:11{0:[1]|1:[2]}'],
  ['operation-key-twice', '@a>req:11{0:[1]|k:2}'],
  ['operation-schema-twice', '@a>req:8{0:[x]|schema:RP}'],
  ['operation-schema-without-list', '@a>req:8{schema:RP}'],
  ['operation-key-leading-zero', '@a>req:11{00:[1]}'],
  ['operation-no-list', '@a>req:11{0:1}'],
  ['operation-map', '@a>req:11{0:{a:1,b:2}}'],
  ['operation-too-long', '@a>req:11{0:[1,2,3]}'],
  ['operation-too-long-absent', '@a>req:11{0:[1,2,-]}'],
  ['payload-zero', '@a>req:x{0:[1]}'],
  ['payload-without-schema', '@a>req:x{12:[1]}'],
  ['payload-with-operation', '@a>req:x{9:[1]}'],
  ['payload-no-list', '@a>req:x{7:1}'],
  ['payload-too-long', '@a>req:x{7:[1,2,3,4,5,6]}'],
  ['payload-beside-schema', '@a>req:x{7:[1]|schema:TA}'],
  ['payload-key-twice', '@a>req:x{7:[1]|asgn:2}'],
  ['key-leading-zero', '@a>req:x{007:1}'],
  ['key-digit', '@a>req:x{1st:1}'],
  ['map-key-digit', '@a>req:x{k:{1st:1}}'],
  ['map-key-beside', '@a>req:x{k:{25:[1],b:2}}'],
  ['map-no-list', '@a>req:x{k:{25:1}}'],
  ['map-too-long', '@a>req:x{k:{25:[1,2,3]}}'],
  ['map-of-payload', '@a>req:x{k:{23:[1]}}'],
  ['table-of-payload', '@a>req:x{k:{24:[[1]]}}'],
  ['table-of-schema', '@a>req:x{k:{14:[[1]]}}'],
  ['table-no-list', '@a>req:x{k:{26:abc}}'],
  ['table-row-no-list', '@a>req:x{k:{26:[[1],2]}}'],
  ['table-row-too-long', '@a>req:x{k:{26:[[1,2,3]]}}'],
  ['table-row-absent', '@a>req:x{k:{26:[-]}}'],
  ['new-table-empty', '@a>req:x{k:{0:[]}}'],
  ['new-table-no-keys', '@a>req:x{k:{0:[[],[]]}}'],
  ['new-table-repeated-key', '@a>req:x{k:{0:[[a,a],[1]]}}'],
  ['new-table-number-key', '@a>req:x{k:{0:[[a,1],[1]]}}'],
  ['new-table-boolean-key', '@a>req:x{k:{0:[[true],[1]]}}'],
  ['new-table-other-key', '@a>req:x{k:{0:[[a-b],[1]]}}'],
  ['new-table-referenced-key', '@a>req:x{k:{0:[[$0],[1]]}}'],
  ['absent-value', '@a>req:x{k:-}'],
  ['absent-in-array', '@a>req:x{k:[-]}'],
  ['absent-in-map', '@a>req:x{k:{a:-}}'],
  ['absent-schema', '@a>req:x{schema:-}'],
  ['string-mark', '@a>req:x{k:#}'],
  ['string-word', '@a>req:x{k:#word}'],
  ['string-minute-after-the-last', '@a>req:x{k:#1440}'],
  ['string-minute-with-zeros', '@a>req:x{k:#007}'],
  ['string-seven-digits', '@a>req:x{k:#1234567}'],
  ['string-eight-digits', '@a>req:x{k:#20260408}'],
  ['string-ten-digits', '@a>req:x{k:#1234567890}'],
  ['string-second-with-zone', '@a>req:x{k:#197802327Z}'],
  ['string-date-in-long-form', '@a>req:x{k:#2026-04-08}'],
  ['string-date-hour', '@a>req:x{k:#20260408T09}'],
  ['string-fraction-without-seconds', '@a>req:x{k:#20260408T0905.5}'],
  ['string-long-fraction', '@a>req:x{k:#20260408T090500.1234567890}'],
  ['string-zone-colon', '@a>req:x{k:#20260408T0905+05\\:30}'],
  ['string-lower-case', '@a>req:x{k:#20260408t0905z}'],
  ['table-word', '@a>req:x{k:1}', 'next'],
  ['table-off-with-count', '@a>req:x{k:1}', 'off.1'],
  ['table-long-count', '@a>req:x{k:1}', 'new.1000'],
  ['table-leading-zero', '@a>req:x{k:1}', '007'],
  ['table-count-with-zeros', '@a>req:x{k:1}', 'new.007'],
  ['table-number-of-new', '@a>req:x{k:1}', 'new.x'],
  ['table-shared', '@a>req:x{k:1}', 'as.b'],
];

/** The count of a frame by hand, in the mode `session`. */
function countOf(body: string): string | undefined {
  return /^@a>req:\d+\{\d+:[^|]*\}$/.test(body) ? undefined : '1';
}

const REJECTIONS: readonly Course[] = [
  ...REJECTED.map(([id, body, table]) =>
    course(`rejected/${id}`, id.replaceAll('-', ' '), sender, (sending) => {
      sending.write('@a>req:x{k:abcd|m:{a:1,b:2}}', 'new');
      sending.write(body, table);
      sending.write('@a>req:x{k:abcd}');
    }),
  ),
  ...REJECTED.filter(([, body, table]) => table === undefined && countOf(body) !== undefined)
    .filter((_, at) => at % 6 === 0)
    .map(([id, body]) =>
      course(
        `rejected/shared/${id}`,
        `${id.replaceAll('-', ' ')}, one count for all`,
        { sequence: 'session' },
        (sending) => {
          sending.write('@a>req:x{k:abcd|m:{a:1,b:2}}', 'new');
          sending.write(body, countOf(body));
          sending.write('@a>req:x{k:abcd}', 'new.5');
        },
      ),
    ),
  course('rejected/shared/table', 'an invalid change of tables', { sequence: 'session' }, (sending) => {
    sending.write('@a>req:x{k:abcd}', 'new.0');
    sending.write('@a>req:x{k:1}', 'new.x');
    sending.write('@a>req:x{k:1}', 'zz');
    sending.write('@a>req:11{1:[abcd]}', 'zz');
    sending.write('@a>req:x{k:1}', '1');
    sending.write('@b>req:x{k:1}', 'as.a.1');
    sending.write('@c>req:x{k:1}', 'as.c.0');
    sending.write('@c>req:11{0:[1]}', 'as.c');
  }),
  course('rejected/broken', 'broken tables reject all frames until they end', sender, (sending) => {
    sending.write('@a>req:x{k:abcd|m:{a:1,b:2}}', 'new');
    sending.write('@b>req:x{k:abcd|m:{a:1,b:2}}', 'new');
    sending.write('@a>req:x{k:$9}');
    sending.write('@a>req:x{k:1}');
    sending.write('@b>req:11{0:[$0]}');
    sending.write('@a>ping:x{k:-}');
    sending.write('@a>req:x{k:##1}', 'off');
    sending.write('@a>req:x{k:##1}');
    sending.write('@a>req:x{k:##1}', 'new');
    sending.write('@a>req:99{}');
    sending.write('@a>req:x{k:##1}', 'new');
    sending.write('@a>req:11{}');
  }),
  course('rejected/teaches-nothing-more', 'the frame that breaks tables is their end', sender, (sending) => {
    sending.write('@a>req:x{k:abcd}', 'new');
    sending.write('@a>req:y{k:efgh|l:$9|m:ijkl}');
    sending.write('@a>req:y{k:efgh}', REG);
    sending.write('@a>req:y{l:$0|m:$1}');
  }),
  course('rejected/too-long', 'a plain frame of more than 1,048,576 characters', sender, (sending) => {
    const long = 'x'.repeat(96);
    sending.write(`@a>req:x{k:${long}}`, 'new');
    sending.write(`@a>req:x{list:[${'$0,'.repeat(10_810)}$0]}`);
  }),
  course('rejected/shared/unknown-agent', 'tables of an agent that has none', { sequence: 'session' }, (sending) => {
    sending.write('@a>req:x{k:abcd}', 'new');
    sending.write('@b>req:x{k:abcd}', 'as.c');
  }),
];

/** One step per line. */
function textOf(about: string, cases: readonly Course[]): string {
  const lines = cases.map(({ steps, ...head }) => {
    const inner = steps.map((step) => `      ${JSON.stringify(step)}`).join(',\n');
    return `    ${JSON.stringify(head).slice(0, -1)}, "steps": [\n${inner}\n    ]}`;
  });
  return `{\n  "about": ${JSON.stringify(about)},\n  "cases": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

await writeFile(
  new URL('courses.json', FOLDER),
  textOf('Frames of the profile compact1, with the tables after them.', COURSES),
);
await writeFile(
  new URL('rejected.json', FOLDER),
  textOf('Frames of the profile compact1 that must be rejected.', REJECTIONS),
);

/** The object whose canonical JSON is hashed. */
function hashedOf({ schemas, customOperations: operations, compact }: Registry): object {
  return operations.length === 0 && compact === undefined ? schemas : { schemas, operations, compact };
}

const hashed = HASHED.map(([id, name, json]) => {
  const registry = createRegistry(json);
  return { id: `compact/hash/${id}`, name, registry: json, hashed: hashedOf(registry), hash: registry.hash };
});
const about = 'Registries with what is hashed: the canonical JSON of "hashed".';
await writeFile(new URL('registries.json', FOLDER), `${JSON.stringify({ about, cases: hashed }, null, 2)}\n`);
