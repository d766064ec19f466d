/** Token counts of the messages of the pipeline in several notations, and the table at the end. */
import type { Message } from '../../../src/accp/message/message.js';
import { renderForContext } from '../../../src/accp/render/index.js';
import { compareTokens, type Notation } from '../../../src/tokens/compare.js';
import type { Encoding, TokenCounter } from '../../../src/tokens/counter.js';
import type { Endpoint } from './agents.js';
import { heading, type Reporter } from './report.js';

/** One notation. */
export interface TallyRow {
  readonly form: Notation | 'context';
  /** Tokens without envelopes. */
  readonly alone: number;
  /** Tokens with envelopes; `null` if the notation has none. */
  readonly whole: number | null;
}

export interface TokenTotals {
  readonly encoding: Encoding;
  /** `false` for estimates. */
  readonly exact: boolean;
  readonly messages: number;
  readonly rows: readonly TallyRow[];
  /** The number of messages whose frames have more tokens than another notation, without and with envelopes. */
  readonly longer: {
    readonly thanEnglish: number;
    readonly thanEnglishWithEnvelope: number;
    readonly thanJson: number;
    readonly thanJsonWithEnvelope: number;
  };
  /** The other frames on the wire: registries, delivery errors, retransmissions, ends of streams. */
  readonly protocol: { readonly frames: number; readonly tokens: number };
}

/** A message and its frames. */
export interface Sent {
  readonly english: string;
  /** The message, with full names in its envelope. */
  readonly message: object;
  readonly frames: readonly string[];
}

/** The token encoding of the demo. */
export const ENCODING: Encoding = 'o200k_base';
const FORMS = ['english', 'json-pretty', 'json', 'toon', 'accp'] as const;

export class TokenTally {
  readonly #counter: TokenCounter;
  readonly #alone = new Map<Notation, number>();
  readonly #whole = new Map<Notation, number>();
  readonly #longer = { thanEnglish: 0, thanEnglishWithEnvelope: 0, thanJson: 0, thanJsonWithEnvelope: 0 };
  #messages = 0;
  #context = 0;
  #protocol = { frames: 0, tokens: 0 };

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** Counts a message. @returns the tokens of its frames, and of the same message in English */
  async sent({ english, message, frames }: Sent): Promise<{ alone: number; whole: number; english: number }> {
    const { counts } = await compareTokens({ english, message }, { encoding: ENCODING });
    const alone = this.#count(frames.map(withoutMetadata));
    const whole = this.#count(frames);
    const all = [...counts, { notation: 'accp' as const, body: alone, total: whole }];
    for (const { notation, body, total: enveloped } of all) {
      if (body !== null) this.#alone.set(notation, (this.#alone.get(notation) ?? 0) + body);
      if (enveloped !== null) this.#whole.set(notation, (this.#whole.get(notation) ?? 0) + enveloped);
    }
    const inEnglish = counts.find(({ notation }) => notation === 'english')!.body!;
    const inJson = counts.find(({ notation }) => notation === 'json')!;
    this.#messages++;
    if (alone > inEnglish) this.#longer.thanEnglish++;
    if (whole > inEnglish) this.#longer.thanEnglishWithEnvelope++;
    if (alone > inJson.body!) this.#longer.thanJson++;
    if (whole > inJson.total!) this.#longer.thanJsonWithEnvelope++;
    return { alone, whole, english: inEnglish };
  }

  /** Counts the text of a message for the receiver's model. */
  received(message: Message): void {
    this.#context += renderForContext(message, { counter: this.#counter }).tokens;
  }

  /** Counts frames that the protocol requires and that carry no message. */
  protocol(frames: readonly string[]): void {
    this.#protocol.frames += frames.length;
    this.#protocol.tokens += this.#count(frames);
  }

  totals(): TokenTotals {
    const rows: TallyRow[] = FORMS.flatMap((form) => {
      const alone = this.#alone.get(form);
      return alone === undefined ? [] : [{ form, alone, whole: this.#whole.get(form) ?? null }];
    });
    return {
      encoding: ENCODING,
      exact: this.#counter.exact,
      messages: this.#messages,
      rows: [...rows, { form: 'context', alone: this.#context, whole: null }],
      longer: this.#longer,
      protocol: this.#protocol,
    };
  }

  #count(texts: readonly string[]): number {
    return texts.reduce((sum, text) => sum + this.#counter.count(text), 0);
  }
}

/** Removes the metadata; `}[` occurs only before it. */
function withoutMetadata(frame: string): string {
  return frame.slice(0, frame.lastIndexOf('}[') + 1);
}

const NAMES: Readonly<Record<TallyRow['form'], string>> = {
  english: 'English',
  'json-pretty': 'JSON, indented',
  json: 'JSON, compact',
  toon: 'TOON',
  accp: 'ACCP frames',
  aacp: 'AACP packets',
  context: 'text for models',
};

/** The state of the hub's sessions at the end. */
interface Contexts {
  /** Tokens of hot state. */
  readonly hot: number;
  /** Tokens of the checkpoints in warm state. */
  readonly warm: number;
  readonly checkpoints: number;
}

export async function reportTable(totals: TokenTotals, hub: readonly Endpoint[], reporter: Reporter): Promise<void> {
  const contexts = contextsOf(hub);
  const { messages, encoding, exact, rows, longer, protocol } = totals;
  const counted = exact ? encoding : 'estimated; for exact counts: npm install gpt-tokenizer';
  const json = rows.find(({ form }) => form === 'json')!;
  const lines = [
    heading(`Tokens of the ${messages} messages (${counted})`, reporter.paint),
    reporter.paint('bold', row('', 'body', 'vs JSON', 'with envelope', 'vs JSON')),
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
    `Of ${messages} messages, ${longer.thanEnglishWithEnvelope} are longer than English as frames with envelope, ` +
      `${longer.thanEnglish} without;`,
    `${longer.thanJsonWithEnvelope} are longer than compact JSON with envelope, ${longer.thanJson} without.`,
    `The protocol sent ${protocol.frames} other frames of ${protocol.tokens} tokens: registries, errors, retransmissions.`,
    `At the end, the sessions of the orchestrator contain ${contexts.hot} tokens of hot state, and ${contexts.warm} tokens in ` +
      `${contexts.checkpoints} checkpoints, which are summaries.`,
  ];
  await reporter.report({ tokens: { ...totals, contexts } }, lines);
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
