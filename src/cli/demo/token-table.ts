/** The table at the end of the demo: what the pipeline cost, the rows included in which ACCP loses. */
import type { Endpoint } from './agents.js';
import { heading, type Teller } from './teller.js';
import type { TallyRow, TokenTotals } from './token-tally.js';

const NAMES: Readonly<Record<TallyRow['form'], string>> = {
  english: 'English',
  'json-pretty': 'JSON, indented',
  json: 'JSON, compact',
  toon: 'TOON',
  accp: 'ACCP frames',
  aacp: 'AACP packets',
  context: 'as the receivers read it',
};

/** What the hub's sessions hold at the end. */
interface Contexts {
  /** Tokens of hot state. */
  readonly hot: number;
  /** Tokens of the checkpoints in warm state. */
  readonly warm: number;
  readonly checkpoints: number;
}

export async function tellTable(totals: TokenTotals, hub: readonly Endpoint[], teller: Teller): Promise<void> {
  const contexts = contextsOf(hub);
  const { messages, encoding, exact, rows, longer, protocol } = totals;
  const counted = exact ? encoding : 'estimates: gpt-tokenizer is not installed; npm install gpt-tokenizer';
  const json = rows.find(({ form }) => form === 'json')!;
  const lines = [
    heading(`What the ${messages} messages cost, in tokens (${counted})`, teller.paint),
    teller.paint('bold', row('', 'alone', 'to JSON', 'with envelope', 'to JSON')),
    ...rows.map(({ form, alone, whole }) =>
      row(
        NAMES[form],
        String(alone),
        change(alone, json.alone),
        whole === null ? '-' : String(whole),
        change(whole, json.whole),
      ),
    ),
    '',
    `Of ${messages} messages, the frame is longer than English in ${longer.thanEnglishWithEnvelope} with its envelope and in ` +
      `${longer.thanEnglish} without,`,
    `and longer than compact JSON in ${longer.thanJsonWithEnvelope} and ${longer.thanJson}.`,
    `Beside them went ${protocol.frames} frames of the protocol itself, of ${protocol.tokens} tokens: registries, errors, what was ` +
      'sent again.',
    `At the end, the orchestrator's contexts hold ${contexts.hot} tokens of hot state, and ${contexts.warm} of ` +
      `${contexts.checkpoints} checkpoints, which leave things out.`,
  ];
  await teller.tell({ tokens: { ...totals, contexts } }, lines);
}

const WIDTHS = [26, 7, 9, 15, 9] as const;

function row(...cells: readonly string[]): string {
  return cells.map((cell, index) => (index === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[index]!))).join('');
}

function change(tokens: number | null, base: number | null): string {
  if (tokens === null || base === null) return '';
  const percent = Math.round((tokens / base - 1) * 100);
  return percent === 0 ? '0 %' : `${percent > 0 ? '+' : ''}${percent} %`;
}

function contextsOf(hub: readonly Endpoint[]): Contexts {
  const budgets = hub.map(({ codec, session }) => codec.getBudget(session));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    hot: sum(budgets.map(({ hot }) => hot.used)),
    warm: sum(budgets.map(({ warm }) => warm.used)),
    checkpoints: sum(budgets.map(({ warm }) => warm.checkpoints.length)),
  };
}
