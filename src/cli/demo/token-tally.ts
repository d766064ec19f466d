/** What the messages of the pipeline cost in several notations: counted as they are sent. */
import type { Message } from '../../accp/message/message.js';
import { renderForContext } from '../../accp/render/render-for-context.js';
import { compareTokens, type Form } from '../../tokens/compare.js';
import type { Encoding, TokenCounter } from '../../tokens/counter.js';

/** One notation. */
export interface TallyRow {
  readonly form: Form | 'context';
  /** Tokens without envelopes. */
  readonly alone: number;
  /** Tokens with envelopes; `null` where there are none. */
  readonly whole: number | null;
}

export interface TokenTotals {
  readonly encoding: Encoding;
  /** `false` for estimates. */
  readonly exact: boolean;
  readonly messages: number;
  readonly rows: readonly TallyRow[];
  /** Messages whose frames have more tokens than other forms, without and with envelopes. */
  readonly longer: {
    readonly thanEnglish: number;
    readonly thanEnglishWithEnvelope: number;
    readonly thanJson: number;
    readonly thanJsonWithEnvelope: number;
  };
  /** What went over the wire besides: registries, errors of delivery, what was sent again, ends of streams. */
  readonly protocol: { readonly frames: number; readonly tokens: number };
}

/** A message as it was composed, and the frames that it became. */
export interface Sent {
  readonly english: string;
  /** With its envelope under full names. */
  readonly message: object;
  readonly frames: readonly string[];
}

/** What the demo counts in. */
export const ENCODING: Encoding = 'o200k_base';
const FORMS = ['english', 'json-pretty', 'json', 'toon', 'accp'] as const;

export class TokenTally {
  readonly #counter: TokenCounter;
  readonly #alone = new Map<Form, number>();
  readonly #whole = new Map<Form, number>();
  readonly #longer = { thanEnglish: 0, thanEnglishWithEnvelope: 0, thanJson: 0, thanJsonWithEnvelope: 0 };
  #messages = 0;
  #context = 0;
  #protocol = { frames: 0, tokens: 0 };

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  /** @returns tokens of the frames, and of the same in English */
  async sent({ english, message, frames }: Sent): Promise<{ alone: number; whole: number; english: number }> {
    const { forms } = await compareTokens({ english, message }, { encoding: ENCODING });
    const alone = this.#count(frames.map(withoutMetadata));
    const whole = this.#count(frames);
    const all = [...forms, { form: 'accp' as const, body: alone, whole }];
    for (const { form, body, whole: enveloped } of all) {
      if (body !== null) this.#alone.set(form, (this.#alone.get(form) ?? 0) + body);
      if (enveloped !== null) this.#whole.set(form, (this.#whole.get(form) ?? 0) + enveloped);
    }
    const inEnglish = forms.find(({ form }) => form === 'english')!.body!;
    const inJson = forms.find(({ form }) => form === 'json')!;
    this.#messages++;
    if (alone > inEnglish) this.#longer.thanEnglish++;
    if (whole > inEnglish) this.#longer.thanEnglishWithEnvelope++;
    if (alone > inJson.body!) this.#longer.thanJson++;
    if (whole > inJson.whole!) this.#longer.thanJsonWithEnvelope++;
    return { alone, whole, english: inEnglish };
  }

  /** A message as the receiver's model gets to read it. */
  received(message: Message): void {
    this.#context += renderForContext(message, { counter: this.#counter }).tokens;
  }

  /** Frames that say nothing but what the protocol needs. */
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

/** Only between the payload and the metadata does a bracket follow a brace. */
function withoutMetadata(frame: string): string {
  return frame.slice(0, frame.lastIndexOf('}[') + 1);
}
