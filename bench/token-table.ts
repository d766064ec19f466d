/** Recounts the rows of the draft's Table 9: its claims beside exact counts, for `results/tokens.md`. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { percentChange } from '../src/bench/table.js';
import { compareTokens, type Notation } from '../src/tokens/compare.js';
import type { Encoding } from '../src/tokens/counter.js';
import { projectRoot } from './root.js';

/** One message, in the forms that are compared. */
export interface Utterance {
  readonly english: string;
  readonly message: {
    readonly agent: string;
    readonly intent: string;
    readonly operation: string;
    readonly payload: object;
  };
  /** In strict form, without metadata. */
  readonly frame: string;
}

interface Claim {
  readonly english: number;
  readonly json: number;
  readonly accp: number;
}

export interface Table9 {
  readonly envelope: { readonly msg_id: string; readonly sequence: number; readonly timestamp: number };
  readonly scenarios: readonly (Utterance & { readonly name: string; readonly claim: Claim })[];
  readonly pipeline: { readonly name: string; readonly claim: Claim; readonly steps: readonly Utterance[] };
}

/** The tokens of each form. */
export interface Counts {
  readonly english: number;
  readonly pretty: number;
  readonly json: number;
  readonly toon: number;
  readonly accp: number;
  /** With the envelope, in both forms. */
  readonly jsonWhole: number;
  readonly accpWhole: number;
}

export function readTable9(): Table9 {
  return JSON.parse(readFileSync(path.join(projectRoot(), 'bench/corpus/table9.json'), 'utf8')) as Table9;
}

/** Adds the three fields that every frame requires (draft-benzing-accp-00, section 3.5). */
export function withEnvelope(frame: string, { msg_id, sequence, timestamp }: Table9['envelope']): string {
  return `${frame}[mid:${msg_id},seq:${sequence},ts:${timestamp}]`;
}

export async function countsOf(
  { english, message, frame }: Utterance,
  envelope: Table9['envelope'],
  encoding: Encoding,
): Promise<Counts> {
  const { counts, exact, skipped } = await compareTokens(
    { english, message: { ...message, envelope }, frameBody: frame, frame: withEnvelope(frame, envelope) },
    { encoding },
  );
  if (!exact || skipped.length > 0) throw new Error('The table needs gpt-tokenizer and @toon-format/toon.');
  const of = (form: Notation, part: 'body' | 'total'): number => counts.find((one) => one.notation === form)![part]!;
  return {
    english: of('english', 'body'),
    pretty: of('json-pretty', 'body'),
    json: of('json', 'body'),
    toon: of('toon', 'body'),
    accp: of('accp', 'body'),
    jsonWhole: of('json', 'total'),
    accpWhole: of('accp', 'total'),
  };
}

/** The tokens of the summary that replaces the history at a checkpoint (section 5.2). */
const SUMMARY = 100;
/** The intents that a checkpoint follows. */
const CHECKPOINTS: ReadonlySet<string> = new Set(['done', 'esc', 'comp']);

/**
 * Counts a pipeline in which every step is sent with all steps before it: with the whole history, and with a summary in
 * its place after each step that ends a task.
 */
export async function pipelineCounts(
  { pipeline, envelope }: Table9,
  encoding: Encoding,
): Promise<{ readonly history: Counts; readonly checkpoints: Counts }> {
  const steps = await Promise.all(
    pipeline.steps.map((step, index) => countsOf(step, stepEnvelope(envelope, index), encoding)),
  );
  const ends = pipeline.steps.map(({ message }) => CHECKPOINTS.has(message.intent));
  const sum = (form: keyof Counts, withCheckpoints: boolean): number => {
    let total = 0;
    let context = 0;
    for (const [index, counts] of steps.entries()) {
      context += counts[form];
      total += context;
      if (withCheckpoints && ends[index]) context = SUMMARY;
    }
    return total;
  };
  const all = (withCheckpoints: boolean): Counts => {
    const forms = Object.keys(steps[0]!) as (keyof Counts)[];
    return Object.fromEntries(forms.map((form) => [form, sum(form, withCheckpoints)])) as unknown as Counts;
  };
  return { history: all(false), checkpoints: all(true) };
}

/** The envelope of one step: identifiers as a session generates them, and increasing times. */
function stepEnvelope({ msg_id, sequence, timestamp }: Table9['envelope'], index: number): Table9['envelope'] {
  const id = (BigInt(`0x${msg_id}`) + BigInt(index) * 0x9e3779b97f4an) & 0xffffffffffffn;
  return {
    msg_id: id.toString(16).padStart(12, '0'),
    sequence: sequence + index,
    timestamp: timestamp + 37 * index,
  };
}

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const;

/** Formats the tables as Markdown. */
export async function tokenTable(data: Table9): Promise<string> {
  const [newer, older] = await Promise.all(ENCODINGS.map((encoding) => table(data, encoding)));
  return [
    'Exact counts in `o200k_base`. The column "claimed" has the figures of the draft (Appendix A, Table 9). The draft does not include the',
    'texts it counted, so the English and the JSON are ours; they state the same as the frame. "With envelope" adds `mid`, `seq` and `ts`,',
    'which every frame requires, to the frame and to the compact JSON. In frames, underscores replace spaces, as in the examples of the draft.',
    '',
    newer!,
    '',
    'Negative percentages are savings. The last two rows are sums over the steps of a pipeline of five agents in which each step is sent with',
    'all steps before it. With checkpoints, a summary of 100 tokens replaces the history before each `done` or `comp`, in every column. The',
    'checkpoints shorten the pipeline, and they serve English and JSON equally; they drop the details that the summary leaves out.',
    '',
    'The same rows in `cl100k_base`:',
    '',
    older!,
  ].join('\n');
}

const HEADINGS = [
  'scenario',
  'claimed: English, JSON, ACCP',
  'English',
  'JSON pretty',
  'JSON',
  'TOON',
  'ACCP',
  'ACCP to English',
  'ACCP to JSON',
  'with envelope: ACCP',
  'to English',
  'to JSON',
];

async function table(data: Table9, encoding: Encoding): Promise<string> {
  const { scenarios, pipeline, envelope } = data;
  const singles = await Promise.all(
    scenarios.map(async (scenario) => row(scenario.name, scenario.claim, await countsOf(scenario, envelope, encoding))),
  );
  const { history, checkpoints } = await pipelineCounts(data, encoding);
  return [
    `| ${HEADINGS.join(' | ')} |`,
    `|---${'|--:'.repeat(HEADINGS.length - 1)}|`,
    ...singles,
    row(pipeline.name, pipeline.claim, history),
    row(`${pipeline.name}, with checkpoints`, null, checkpoints),
  ].join('\n');
}

function row(name: string, claim: Claim | null, counts: Counts): string {
  const { english, pretty, json, toon, accp, jsonWhole, accpWhole } = counts;
  const claimed = claim === null ? '' : `${number(claim.english)}, ${number(claim.json)}, ${number(claim.accp)}`;
  const cells = [
    name,
    claimed,
    ...[english, pretty, json, toon, accp].map(number),
    percentChange(accp, english),
    percentChange(accp, json),
    number(accpWhole),
    percentChange(accpWhole, english),
    percentChange(accpWhole, jsonWhole),
  ];
  return `| ${cells.join(' | ')} |`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
