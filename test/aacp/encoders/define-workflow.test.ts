/** User-defined workflows: the same engine and the same checks. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineWorkflow, describeWorkflow, type StepDefinition } from '../../../src/aacp/encoders/index.js';
import { validatePacket } from '../../../src/aacp/index.js';

const text = { schema: z.string(), description: 'a text' } as const;

const STEP = {
  summary: 'Book a train.',
  task: 'BUILD',
  domain: 'HR',
  returnAgent: 'HR-Agent',
  inputs: { goal: { ...text, normalise: ['space-to-hyphen'] } },
  fields: [
    ['res', 'train'],
    ['filter', ['to={goal}']],
  ],
} as const satisfies StepDefinition;

function defineStep(changes: Record<string, unknown>) {
  const step = { ...STEP, ...changes } as StepDefinition;
  return defineWorkflow({ name: 'TravelEncoder', summary: 'Trips.', steps: { book: step } });
}

describe('an encoder of a definition', () => {
  const TravelEncoder = defineWorkflow({
    name: 'TravelEncoder',
    summary: 'Business trips.',
    steps: {
      book_train: STEP,
      book_room: {
        summary: 'Book a room.',
        task: 'RESERVE',
        domain: 'TRAVEL',
        priority: 3,
        inputs: {
          city: { ...text, normalise: ['lower-case', 'space-to-underscore'] },
          nights: { schema: z.int().min(1), description: 'how many nights', default: 1 },
          late: { schema: z.boolean(), description: 'a late arrival', default: false },
          guests: { schema: z.array(z.string()), list: true, description: 'who comes', optional: true },
          phone: { ...text, optional: true, personal: true },
        },
        fields: [
          ['res', 'room'],
          ['filter', ['city={city}', 'nights={nights}', ['late', 'late']]],
          ['subj', 'room_in_{city}_for_{nights}'],
          ['org_guests', ['{guests}']],
        ],
      },
    },
    sequences: { full_trip: { summary: 'All of it.', inputs: ['goal'], steps: ['book_train'] } },
  });

  test('has a function for each step and each sequence, and nothing else', () => {
    expect(Object.keys(TravelEncoder)).toEqual(['book_train', 'book_room', 'full_trip']);
    expect(Object.getPrototypeOf(TravelEncoder)).toBeNull();
    expect(Object.isFrozen(TravelEncoder)).toBe(true);
  });

  test('writes packets', () => {
    const { packet, losses, step } = TravelEncoder.book_train({ goal: 'New York' });
    expect(packet).toBe('BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:train|filter:to=New-York');
    expect(losses).toEqual([
      { input: 'goal', key: 'filter', kind: 'space-to-hyphen', from: 'New York', to: 'New-York' },
    ]);
    expect(step).toBe('TravelEncoder.book_train');
    expect(TravelEncoder.full_trip({ goal: 'Bonn' }).map((result) => result.packet)).toEqual([
      'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:train|filter:to=Bonn',
    ]);
  });

  test('writes private words, conditional items, several inputs in one text, and private keys', () => {
    const args = { return_agent: 'A', city: 'New York', nights: 2, late: true, guests: ['x', 'y'] };
    const { packet, diagnostics } = TravelEncoder.book_room(args);
    expect(packet).toBe(
      'RESERVE|TRAVEL|return:A|p:3|aacp:1.1|res:room|filter:city=new_york,nights=2,late|subj:room_in_new_york_for_2|org_guests:x,y',
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(['unknown-task', 'unknown-dom', 'unknown-key']);
    expect(validatePacket(packet).valid).toBe(true);
  });

  test('reports each change of an input, in order, for each field', () => {
    const { losses } = TravelEncoder.book_room({ return_agent: 'A', city: 'New York' });
    const chain = (key: string) => [
      { input: 'city', key, kind: 'lower-case', from: 'New York', to: 'new york' },
      { input: 'city', key, kind: 'space-to-underscore', from: 'new york', to: 'new_york' },
    ];
    expect(losses).toEqual([...chain('filter'), ...chain('subj')]);
  });

  test('omits the pointer if there is no personal data', () => {
    expect(TravelEncoder.book_room({ return_agent: 'A', city: 'B' }).referenced).toBeNull();
    const { packet, referenced } = TravelEncoder.book_room({ return_agent: 'A', city: 'B', phone: '555' });
    expect(packet).toContain(`|data_ptr:${referenced?.pointer}|subj:`);
  });

  test('reports the errors of its schemas', () => {
    expect(() => TravelEncoder.book_room({ return_agent: 'A', city: 'B', nights: 0 })).toThrow(
      expect.objectContaining({ name: 'EncodeError', code: 'bad-input', path: 'nights' }),
    );
  });

  test('is described like the built-in ones', () => {
    const [, room] = describeWorkflow(TravelEncoder).methods;
    expect(room).toMatchObject({ name: 'book_room', task: 'RESERVE', domain: 'TRAVEL', example: null });
    expect(room?.inputs.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['city', 'text', true],
      ['nights', 'text', false],
      ['late', 'boolean', false],
      ['guests', 'list', false],
      ['phone', 'text', false],
      ['return_agent', 'text', true],
      ['priority', 'text', false],
    ]);
  });
});

describe('schemas', () => {
  const define = (schema: z.ZodType, more: object = {}) => {
    const input = { schema, description: 'it', ...more };
    const list = 'list' in more;
    return defineStep({ inputs: { it: input }, fields: [['res', list ? ['{it}'] : '{it}']] }) as unknown as {
      readonly book: (args: object) => { readonly packet: string; readonly losses: readonly unknown[] };
    };
  };

  test.each([
    ['an enum', z.enum(['a', 'b']), 'a', 'c'],
    ['a literal', z.literal(['a', 5]), 5, 'b'],
    ['a format', z.email(), 'a@example.com', 'a'],
    ['a refined text', z.string().min(3), 'abc', 'ab'],
    ['a number', z.number(), 1.5, '1.5'],
    ['a whole number', z.int(), 7, 7.5],
    ['a big number', z.bigint(), 12345678901234567890n, 5],
    ['a union', z.union([z.enum(['a']), z.int()]), 5, 5.5],
    ['a refinement', z.string().refine((it) => it.length % 2 === 0), 'ab', 'abc'],
    ['an optional one', z.string().optional(), 'a', 5],
  ])('%s', (_, schema, good, bad) => {
    const { book } = define(schema);
    expect(book({ it: good }).packet).toContain(`|res:${good}`);
    expect(book({ it: good }).losses).toEqual([]);
    expect(() => book({ it: bad })).toThrow(expect.objectContaining({ code: 'bad-input', path: 'it' }));
  });

  test('a change by a schema is reported', () => {
    const { packet, losses } = define(z.string().trim().toUpperCase()).book({ it: ' a ' });
    expect(packet).toMatch(/\|res:A$/);
    expect(losses).toEqual([{ input: 'it', key: 'res', kind: 'transformed', from: ' a ', to: 'A' }]);
  });

  test('a change of list items by a schema is reported', () => {
    const { packet, losses } = define(z.array(z.string().trim()), { list: true }).book({ it: ['a', ' b'] });
    expect(packet).toMatch(/\|res:a,b$/);
    expect(losses).toEqual([{ input: 'it[1]', key: 'res', kind: 'transformed', from: ' b', to: 'b' }]);
  });

  test('a schema that makes a list from a string is reported', () => {
    const schema = z.string().transform((it) => it.split(';'));
    const { packet, losses } = define(schema, { list: true }).book({ it: 'a;b' });
    expect(packet).toMatch(/\|res:a,b$/);
    expect(losses).toEqual([{ input: 'it', key: 'res', kind: 'transformed', from: 'a;b', to: 'a,b' }]);
  });

  test('the output of a schema must follow the rules of fields', () => {
    const hostile = z.string().transform((it) => `${it}|return:EVIL`);
    expect(() => define(hostile).book({ it: 'a' })).toThrow(expect.objectContaining({ code: 'separator', path: 'it' }));
    const empty = z.array(z.string()).transform((): string[] => []);
    expect(() => define(empty, { list: true }).book({ it: ['a'] })).toThrow(
      expect.objectContaining({ code: 'empty-value', path: 'it' }),
    );
    const object = z.string().transform((it) => ({ it }));
    expect(() => define(object).book({ it: 'a' })).toThrow(expect.objectContaining({ code: 'bad-input', path: 'it' }));
    const date = z.date().transform((it) => it.toISOString().slice(0, 10));
    expect(define(date).book({ it: new Date(0) }).packet).toMatch(/\|res:1970-01-01$/);
  });
});

describe('a definition is rejected', () => {
  const goal = STEP.inputs.goal;
  const res = ['res', 'train'];
  const alone = ['filter', ['to={goal}']];

  test.each([
    ['without a TASK', { task: '' }, 'task must be a word in capital letters'],
    ['with a TASK in lower case', { task: 'build' }, 'task must be a word in capital letters'],
    ['with a DOM that contains a separator', { domain: 'HR|X' }, 'domain must be a word in capital letters'],
    ['with an agent that contains a separator', { returnAgent: 'A|p:1' }, 'returnAgent: it: contains a "|"'],
    ['with an invalid priority', { priority: 4 }, 'priority must be 1, 2 or 3'],
    ['without inputs', { inputs: null }, 'inputs must be an object'],
    ['without fields', { fields: 'x' }, 'fields must be a list'],
    ['with a bad key', { fields: [['Res', 'x'], alone] }, 'fields[0]: "Res" is not a key'],
    [
      'with a key that is written automatically',
      { fields: [['return', 'x'], alone] },
      'fields[0]: return is written automatically',
    ],
    ['with a version of its own', { fields: [['aacp', '9'], alone] }, 'fields[0]: aacp is written automatically'],
    ['with a key twice', { fields: [res, res, alone] }, 'the key "res" is repeated'],
    ['with fields out of order', { fields: [alone, res] }, 'fields[1]: "res" must precede "filter"'],
    [
      'with a private key before one of the draft',
      { fields: [['org_x', 'a'], alone] },
      '"filter" must precede "org_x"',
    ],
    ['with an unknown input', { fields: [alone, ['fmt', '{form}']] }, 'fields[1]: the input "form"'],
    [
      'with an inherited name as input',
      { fields: [alone, ['fmt', '{constructor}']] },
      'the input "constructor" does not exist',
    ],
    ['with a stray brace', { fields: [alone, ['fmt', 'a{b']] }, 'contains a brace that does not belong to an {input}'],
    [
      'with an unknown normalisation',
      { fields: [alone, ['fmt', '{goal:up}']] },
      'the normalisation "up" does not exist',
    ],
    ['with a separator in a text', { fields: [alone, ['fmt', 'a|b']] }, 'contains a "|"'],
    ['with a line end in a text', { fields: [alone, ['fmt', 'a\nb']] }, 'contains a control character'],
    ['with an empty text', { fields: [alone, ['fmt', '']] }, 'is empty'],
    ['with an empty list', { fields: [alone, ['fmt', []]] }, 'the list of items is empty'],
    ['with a comma in an item', { fields: [alone, ['fmt', ['a,b']]] }, 'contains a comma'],
    [
      'with a condition on an unknown input',
      { fields: [alone, ['fmt', [['a', 'late']]]] },
      'the input "late" does not exist',
    ],
    ['with an invalid mode', { fields: [alone, ['fmt', 'a', { only: 'sdk' }]] }, "only must be 'default' or 'compat'"],
    [
      'with an input named like those of all steps',
      { inputs: { goal, priority: text } },
      'every step already has this input',
    ],
    ['with a bad name of an input', { inputs: { goal, 'a-b': text } }, 'the name must be lower case'],
    ['without a schema', { inputs: { goal: { description: '' } } }, 'inputs.goal: schema must be a zod schema'],
    [
      'without a description',
      { inputs: { goal: { schema: z.string() } } },
      'inputs.goal: description must be a string',
    ],
    [
      'with unknown normalisations',
      { inputs: { goal: { ...text, normalise: ['up'] } } },
      'the normalisation "up" does not exist',
    ],
    ['with a default of the wrong kind', { inputs: { goal: { ...text, default: 5 } } }, 'default: goal: must be'],
    [
      'with a default that cannot be written',
      { inputs: { goal: { ...text, default: 'a|b' } } },
      'default: goal: contains a "|"',
    ],
    [
      'with a list as default',
      { inputs: { goal: { ...text, default: ['a'] } } },
      'default must not be a list, since the input is not one',
    ],
    [
      'with a default on an unknown condition',
      { inputs: { goal: { ...text, default: 'a', defaultWith: 'x' } } },
      'the input "x" does not exist',
    ],
  ])('%s', (_, changes, message) => {
    expect(() => defineStep(changes)).toThrow(TypeError);
    expect(() => defineStep(changes)).toThrow(/^TravelEncoder\.book: /);
    expect(() => defineStep(changes)).toThrow(message);
  });

  test.each([
    ['is in no field', [res]],
    ['is in no field of the default mode', [['filter', ['to={goal}'], { only: 'compat' }]]],
    ['is in a conditional field', [['filter', ['to={goal}'], { when: 'goal' }]]],
    ['is in a field for some receivers only', [['req', ['to={goal}'], { ifKnown: true }]]],
    ['is only written with a normalisation', [['filter', '{goal:lower-case}']]],
    [
      'is next to another input',
      [
        ['filter', '{goal}{more}'],
        ['fmt', '{more}'],
      ],
    ],
  ])('if packets could hide an input, since it %s', (_, fields) => {
    const inputs = { goal, more: text };
    const used = fields.flat(2).includes('{more}') ? inputs : { goal };
    expect(() => defineStep({ inputs: used, fields })).toThrow(
      'TravelEncoder.book: inputs.goal must be the only input of some field that is always written; otherwise a packet could hide it',
    );
  });

  test.each([
    ['two that begin alike', ['x={a}', 'x={b}'], 'two items begin with "x="'],
    ['two without a beginning', ['{a}', '{b}'], '"{a}" must begin with a name'],
    ['a list beside another', ['a={a}', '{list}', 'b={b}'], 'a list must be the only input of its field'],
    ['a conditional text that looks like another', ['x={a}', 'y={b}', ['x=1', 'yes']], 'two items begin with "x=1"'],
  ])('if items could be mistaken for each other: %s', (_, items, message) => {
    const inputs = {
      a: { ...text, optional: true },
      b: { ...text, optional: true },
      list: { schema: z.array(z.string()), list: true, description: 'a list', optional: true },
      yes: { schema: z.boolean(), description: 'a boolean', default: false },
    };
    expect(() => defineStep({ inputs, fields: [['filter', items]] })).toThrow(message);
  });

  test.each([
    ['personal data in a field', { mail: { ...text, personal: true } }, [['filter', '{mail}']], '"mail" is personal'],
    [
      'a pointer beside the one for personal data',
      { mail: { ...text, personal: true } },
      [['data_ptr', 'x']],
      'data_ptr is reserved',
    ],
    [
      'a list in a text',
      { all: { schema: z.array(z.string()), description: '', list: true } },
      [['res', '{all}']],
      '"all" is a list',
    ],
  ])('with %s', (_, inputs, fields, message) => {
    expect(() => defineStep({ inputs, fields })).toThrow(message);
  });

  test.each([
    ['without a name', { name: '' }, 'name must be a non-empty string'],
    ['without steps', { steps: {} }, 'W: steps must define at least one step'],
    ['with a bad name of a step', { steps: { 'a b': STEP } }, 'W: the name of the step "a b" must be lower case'],
    ['with an invalid step', { steps: { a: null } }, 'W.a: a step must be an object'],
    ['with two steps of one spelling', { steps: { a_1: STEP, a1: STEP } }, 'W: two methods have the same name'],
    [
      'with an empty sequence',
      { sequences: { s: { inputs: [], steps: [] } } },
      'W.s: steps must be a list of step names',
    ],
    [
      'with a sequence of unknown steps',
      { sequences: { s: { inputs: [], steps: ['toString'] } } },
      'the step "toString" does not exist',
    ],
    [
      'with a sequence that lacks an input',
      { sequences: { s: { inputs: [], steps: ['book'] } } },
      'requires the input "goal"',
    ],
    [
      'with an input that no step has',
      { sequences: { s: { inputs: ['goal', 'x'], steps: ['book'] } } },
      'no step has an input "x"',
    ],
  ])('as a workflow: %s', (_, changes, message) => {
    const definition = { name: 'W', summary: '', steps: { book: STEP }, ...changes };
    expect(() => defineWorkflow(definition as never)).toThrow(TypeError);
    expect(() => defineWorkflow(definition as never)).toThrow(message);
  });
});

test.each([[{}], [null], [STEP]])('%j is not an encoder to describe', (encoder) => {
  expect(() => describeWorkflow(encoder as object)).toThrow(TypeError);
});
