/** Formats the counts of compact frames beside JSON and TOON, for `results/tokens.md`. */
import type { CompactTokens, Row, Scenario } from './compact/report.js';

type Part = 'body' | 'whole';
type Table = readonly (readonly (string | number)[])[];

const KNOWN: Readonly<Record<Scenario, string>> = {
  first: 'nothing, round 1',
  second: 'nothing, round 2',
  'first by agent': 'nothing, round 1, tables by agent',
  'second by agent': 'nothing, round 2, tables by agent',
  'other part': 'registry of the other part',
  'own types': 'registry of the same types',
};
const SCENARIOS = Object.keys(KNOWN) as Scenario[];
/** Those in which the messages of one conversation share tables. */
const SHARED = ['first', 'second', 'other part', 'own types'] as const;
const PARTS = ['corpus', 'generated'] as const;

/** The most tokens that the envelope of an answer should have. */
const ENVELOPE_GOAL = 22;

/** Sums and comparisons of one report. */
export class Counts {
  readonly #report: CompactTokens;

  constructor(report: CompactTokens) {
    this.#report = report;
  }

  get tokenizers(): readonly string[] {
    return this.#report.tokenizers;
  }

  rows(scenario: Scenario, part?: (typeof PARTS)[number]): Row[] {
    return this.#report.rows.filter(
      (row) => row.scenario === scenario && (part === undefined || (row.group === 'corpus') === (part === 'corpus')),
    );
  }

  of({ tokens }: Row, tokenizer: string, form: string, part: Part = 'body'): number {
    const { tokenizers, forms } = this.#report;
    return tokens[tokenizers.indexOf(tokenizer)]![forms.indexOf(form) + (part === 'body' ? 0 : forms.length)]!;
  }

  sum(rows: readonly Row[], tokenizer: string, form: string, part: Part = 'body'): number {
    return rows.reduce((total, row) => total + this.of(row, tokenizer, form, part), 0);
  }

  /** Returns the change in percent of one form to another. */
  change(rows: readonly Row[], tokenizer: string, form: string, to: string, part: Part = 'body'): number {
    return 100 * (this.sum(rows, tokenizer, form, part) / this.sum(rows, tokenizer, to, part) - 1);
  }

  /** Returns the tokenizers in which one form of a message has more tokens than another. */
  above(row: Row, form: string, other: string, part: Part = 'body'): string[] {
    return this.tokenizers.filter((name) => this.of(row, name, form, part) > this.of(row, name, other, part));
  }
}

/** Formats the section as Markdown. */
export function compactTable(report: CompactTokens): string {
  const counts = new Counts(report);
  const corpus = counts.rows('first', 'corpus').length;
  const generated = counts.rows('first', 'generated');
  const types = generated.filter(({ group }) => group === 'same types').length;
  const split = counts
    .rows('first')
    .filter(({ frames }) => frames > 1)
    .map(({ id }) => id);
  const announced = Math.max(...Object.values(report.announcements));
  const { registries } = report;
  return [
    `Frames of the profile \`compact1\` (\`createCodec({ compact: true })\`) beside compact JSON, TOON, plain frames, and JSON with the same means: numbers for shapes`,
    'and repeated strings, tables, short dates, which a small codec, `bench/compact/json-codec.ts`, writes for this comparison. Everything is read back and',
    'compared. `npm run bench:tokens` counts it with seven tokenizers: `o200k` and `cl100k` of OpenAI, the one that Anthropic published in 2023, and those of',
    'Gemma 3, Qwen 3, DeepSeek V3 and Llama 3.1. The codec counts in `cl100k` for the column `cl100k`, and in `o200k` for all others.',
    '',
    `"Corpus" are the ${corpus} messages of [messages.json](../corpus/README.md). "Generated" are ${generated.length} messages with which no spelling was chosen: ${types} of types that the corpus has, ${generated.length - types} of others,`,
    'among them source code, JSON in a string and other languages than English. Both are five conversations, each a session in which one side sends the',
    `messages of all agents; "tables by agent" is \`sequence: 'sender'\`, in which each agent has its own. Round 2 continues the session with`,
    'messages of the same types, with other numbers, identifiers, dates and prose, and the same agents. Enumerations are the same in the corpus, and drawn',
    'anew in the generated messages.',
    `Registries are learned with \`learnRegistry\`: from round 1 of the corpus (${sizeOf(registries['corpus']!)}), of the generated messages`,
    `(${sizeOf(registries['generated']!)}), and from two rounds of other generated messages (${sizeOf(registries['generated, other half']!)}). "The other part" is`,
    'the registry of the generated messages for the corpus and the reverse, "the same types" that of earlier messages of the same types.',
    `At the beginning of a session, both sides announce the profile, in ${announced} tokens together; these are not included. Messages of several frames in round 1: ${split.join(', ') || 'none'}.`,
    '',
    '### Goals',
    '',
    ...goals(counts),
    '',
    '### Header and payload',
    '',
    'Changes in percent to compact JSON / to TOON:',
    '',
    ...totals(counts, 'body', SCENARIOS),
    '',
    '### With envelope',
    '',
    'JSON and TOON have the members that the compact frame spells: the short identifiers, and `session_id` in the first message only. The JSON with the same',
    "means has their values in a list. Plain frames have the identifiers and fields that the codec writes with `sessionId: 'first'`. The first",
    'frame of each agent in a session also names its tables. Changes in percent to compact JSON / to TOON:',
    '',
    ...totals(counts, 'whole', ['first', 'second', 'own types']),
    '',
    '### By kind of message',
    '',
    'Header and payload in `o200k`, both parts together. "Means" is JSON with the same means.',
    '',
    ...kinds(counts),
    '',
    '### Where each format loses',
    '',
    `The number of messages, of ${corpus + generated.length} in each row, without envelope:`,
    '',
    ...losses(counts),
    '',
    'Messages whose compact frame has more tokens than compact JSON or TOON in at least one tokenizer, with the greatest excess:',
    '',
    ...losers(counts),
    '',
    ...remarks(counts),
  ].join('\n');
}

function sizeOf({ messages, shapes, strings, agents }: CompactTokens['registries'][string]): string {
  return `${messages} messages; ${shapes} shapes, ${strings} strings, ${agents} agents`;
}

function goals(counts: Counts): string[] {
  const change = (scenario: Scenario, tokenizer: string, aims: readonly [json: number, toon?: number]) =>
    PARTS.map((part) => {
      const rows = counts.rows(scenario, part);
      const values = aims.map((_, index) => counts.change(rows, tokenizer, 'compact', index === 0 ? 'json' : 'toon'));
      const isReached = values.every((value, index) => value <= aims[index]!);
      return `${values.map(percent).join(' / ')} ${isReached ? 'reached' : '**missed**'}`;
    });
  const envelopes = (scenario: Scenario) =>
    PARTS.map((part) => {
      const answers = counts.rows(scenario, part).filter(({ isAnswer, frames }) => isAnswer && frames === 1);
      const tokens = answers.map(
        (row) => counts.of(row, 'o200k', 'compact', 'whole') - counts.of(row, 'o200k', 'compact'),
      );
      const most = Math.max(...tokens);
      const mean = tokens.reduce((sum, one) => sum + one, 0) / tokens.length;
      return `mean ${mean.toFixed(1)}, most ${most} ${most <= ENVELOPE_GOAL ? 'reached' : '**missed**'}`;
    });
  const never = (scenario: Scenario, part: Part) =>
    PARTS.map((of) => {
      const rows = counts.rows(scenario, of);
      const above = rows.filter((row) => isAbove(counts, row, part)).length;
      return `${above} of ${rows.length} above ${above === 0 ? 'reached' : '**missed**'}`;
    });
  return table([
    ['goal', ...PARTS],
    ['nothing agreed: at most -27 % to JSON (`o200k`)', ...change('first', 'o200k', [-27])],
    ['registry of the same types: -40 % to JSON, -38 % to TOON (`o200k`)', ...change('own types', 'o200k', [-40, -38])],
    [
      'registry of the same types: -37 % to JSON, -31 % to TOON (`claude`)',
      ...change('own types', 'claude', [-37, -31]),
    ],
    ['second round: -43 % to JSON (`o200k`)', ...change('second', 'o200k', [-43])],
    [`envelope of an answer: at most ${ENVELOPE_GOAL} tokens (\`o200k\`, round 2)`, ...envelopes('second')],
    ['the same, tables by agent', ...envelopes('second by agent')],
    ['no message above JSON or TOON in any tokenizer, round 1', ...never('first', 'body')],
    ['no message above JSON or TOON in any tokenizer, round 2', ...never('second', 'body')],
    ['the same with envelope, round 1', ...never('first', 'whole')],
    ['the same with envelope, round 2', ...never('second', 'whole')],
  ]);
}

function totals(counts: Counts, part: Part, scenarios: readonly Scenario[]): string[] {
  const row = (name: string, scenario: Scenario, of: (typeof PARTS)[number], form: string): (string | number)[] => [
    `${name}, ${of}`,
    ...counts.tokenizers.map((tokenizer) =>
      ['json', 'toon']
        .map((base) => percent(counts.change(counts.rows(scenario, of), tokenizer, form, base, part)))
        .join(' / '),
    ),
  ];
  return table([
    ['', ...counts.tokenizers],
    ...PARTS.map((of) => row('plain frame', 'first', of, 'plain')),
    ...scenarios.flatMap((scenario) =>
      PARTS.flatMap((of) => [
        ...(scenario.endsWith('by agent')
          ? []
          : [row(`JSON with the same means; ${KNOWN[scenario]}`, scenario, of, 'tricks')]),
        row(`**compact frame**; ${KNOWN[scenario]}`, scenario, of, 'compact'),
      ]),
    ),
  ]);
}

function kinds(counts: Counts): string[] {
  const all = counts.rows('first');
  const names = [...new Set(all.map(({ kind }) => kind))];
  const row = (name: string, select: (row: Row) => boolean): (string | number)[] => {
    const [first, second, , own] = SHARED.map((scenario) => counts.rows(scenario).filter(select));
    const sums = ['json', 'toon', 'plain', 'tricks', 'compact'].map((form) => counts.sum(first!, 'o200k', form));
    return [
      `${name} (${first!.length})`,
      ...sums,
      percent(counts.change(first!, 'o200k', 'compact', 'json')),
      percent(counts.change(first!, 'o200k', 'compact', 'toon')),
      percent(counts.change(first!, 'claude', 'compact', 'json')),
      percent(counts.change(second!, 'o200k', 'tricks', 'json')),
      percent(counts.change(second!, 'o200k', 'compact', 'json')),
      percent(counts.change(own!, 'o200k', 'compact', 'json')),
    ];
  };
  return table([
    [
      ...['kind', 'JSON', 'TOON', 'plain', 'means', 'compact', 'to JSON', 'to TOON', 'to JSON, `claude`'],
      ...['round 2: means to JSON', 'compact to JSON', 'registry of the same types: to JSON'],
    ],
    ...names.map((name) => row(name, ({ kind }) => kind === name)),
    row('**total**', () => true),
  ]);
}

const PAIRS: readonly (readonly [form: string, other: string, name: string])[] = [
  ['compact', 'json', 'compact frame above JSON'],
  ['compact', 'toon', 'compact frame above TOON'],
  ['compact', 'tricks', 'compact frame above JSON with the same means'],
  ['tricks', 'compact', 'JSON with the same means above compact frame'],
  ['toon', 'json', 'TOON above JSON'],
  ['plain', 'json', 'plain frame above JSON'],
];

function losses(counts: Counts): string[] {
  return table([
    ['', ...counts.tokenizers],
    ...SHARED.flatMap((scenario) =>
      PAIRS.filter(([form]) => scenario === 'first' || form === 'compact' || form === 'tricks').map(
        ([form, other, name]) => [
          `${name}; ${KNOWN[scenario]}`,
          ...counts.tokenizers.map(
            (tokenizer) =>
              counts.rows(scenario).filter((row) => counts.of(row, tokenizer, form) > counts.of(row, tokenizer, other))
                .length,
          ),
        ],
      ),
    ),
  ]);
}

function isAbove(counts: Counts, row: Row, part: Part = 'body'): boolean {
  return ['json', 'toon'].some((other) => counts.above(row, 'compact', other, part).length > 0);
}

function losers(counts: Counts): string[] {
  const rows = SHARED.flatMap((scenario) => counts.rows(scenario).filter((row) => isAbove(counts, row)));
  return table([
    ['message', 'kind', 'both sides know', 'above JSON in', 'above TOON in', 'worst', 'compact', 'JSON', 'TOON'],
    ...rows.map((row) => {
      const least = (name: string): number => Math.min(counts.of(row, name, 'json'), counts.of(row, name, 'toon'));
      const excess = (name: string): number => counts.of(row, name, 'compact') / least(name);
      const worst = [...counts.tokenizers].sort((a, b) => excess(b) - excess(a))[0]!;
      return [
        row.id,
        row.kind,
        KNOWN[row.scenario],
        namesOf(counts, counts.above(row, 'compact', 'json')),
        namesOf(counts, counts.above(row, 'compact', 'toon')),
        worst,
        ...['compact', 'json', 'toon'].map((form) => counts.of(row, worst, form)),
      ];
    }),
  ]);
}

function namesOf({ tokenizers }: Counts, names: readonly string[]): string {
  return names.length === tokenizers.length ? 'all' : names.join(', ');
}

function remarks(counts: Counts): string[] {
  const kindsOf = (form: string, other: string): string => {
    const rows = counts.rows('first').filter((row) => counts.of(row, 'o200k', form) > counts.of(row, 'o200k', other));
    const numbers = new Map<string, number>();
    for (const { kind } of rows) numbers.set(kind, (numbers.get(kind) ?? 0) + 1);
    return [...numbers].map(([kind, number]) => `${kind} (${number})`).join(', ') || 'none';
  };
  const toMeans = (['body', 'whole'] as const).map((part) =>
    (['first', 'second', 'own types'] as const)
      .map((scenario) => {
        const changes = PARTS.map((of) =>
          percent(counts.change(counts.rows(scenario, of), 'o200k', 'compact', 'tricks', part)),
        );
        return `${KNOWN[scenario]}: ${changes.join(' / ')}`;
      })
      .join('; '),
  );
  return [
    'Compact frames to JSON with the same means in `o200k`, in percent, corpus / generated:',
    '',
    `* without envelope: ${toMeans[0]}.`,
    `* with envelope: ${toMeans[1]}.`,
    '',
    'In round 1, without envelope:',
    '',
    `* Compact frames have more tokens than JSON with the same means in: ${kindsOf('compact', 'tricks')}.`,
    `* Plain frames have more tokens than compact JSON in: ${kindsOf('plain', 'json')}.`,
    `* Compact JSON has more tokens than TOON in: ${kindsOf('json', 'toon')}.`,
    '',
    'So the saving is of the tables and numbers more than of the syntax. Frames escape delimiters and spell characters beyond ASCII by number, so source code',
    'and other scripts cost more than in JSON, and error frames stay plain. Compact frames and that JSON need the codec, and are not for models;',
    'texts for a model are counted above.',
  ];
}

function table([header, ...rows]: Table): string[] {
  const line = (cells: readonly (string | number)[]): string =>
    `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)).join(' | ')} |`;
  return [line(header!), `|---${'|--:'.repeat(header!.length - 1)}|`, ...rows.map(line)];
}

/** `-12.3`, `+40.0`. */
function percent(value: number): string {
  return `${value > 0 ? '+' : ''}${value.toFixed(1)}`;
}
