/** The numbers of tokens of frames and their limits (draft-benzing-accp-00, section 3.4), each part counted once. */

import type { Diagnostic } from '../../text/diagnostic.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { metadataText } from '../session/envelope.js';
import { FRAME_PARTS, type FrameLimits, type FramePart, type FrameTokens, type Limit, warningOf } from './contract.js';

/** The header of a frame: `@agent>intent`. */
interface Header {
  readonly agent: string;
  readonly intent: string;
}

/** The maximum number of headers whose tokens are stored. */
const MAX_HEADERS = 256;
/** The body of the shortest frame. */
const SHORTEST_BODY = ':a{}';

/** A counter for the frames of one session, which have few headers. */
export class FrameTokenCounter {
  readonly #counter: TokenCounter;
  readonly #sid: string | undefined;
  readonly #headers = new Map<string, number>();
  readonly #shortest = new Map<string, FrameTokens>();
  #shortestAt = -1;
  /** `true` if the stored numbers are exact: a counter may load its vocabulary later. */
  #isExact: boolean;

  /** @param sid the session identifier if every frame has it */
  constructor(counter: TokenCounter, sid: string | undefined) {
    this.#counter = counter;
    this.#sid = sid;
    this.#isExact = counter.exact;
  }

  #forget(): void {
    this.#headers.clear();
    this.#shortest.clear();
    this.#isExact = this.#counter.exact;
  }

  header({ agent, intent }: Header): number {
    return this.#header(`@${agent}>${intent}`);
  }

  #header(text: string): number {
    if (this.#counter.exact !== this.#isExact) this.#forget();
    let tokens = this.#headers.get(text);
    if (tokens === undefined) {
      tokens = this.#counter.count(text);
      if (this.#headers.size >= MAX_HEADERS) this.#headers.clear();
      this.#headers.set(text, tokens);
    }
    return tokens;
  }

  /** Counts a text with header and body, without the metadata: `@agent>intent:operation{payload}`. */
  body(text: string): number {
    return this.#counter.count(text.slice(text.indexOf(':')));
  }

  /** Counts a frame. @param length the length of header and body @param body the tokens of the body, if they are known */
  frame(text: string, length: number, body = this.body(text.slice(0, length))): FrameTokens {
    const { exact } = this.#counter;
    // Counting the whole first makes the text one piece in memory, of which the metadata is a part.
    const total = this.#counter.count(text);
    const metadata = this.#counter.count(text.slice(length));
    // The agent may be a number.
    return { header: this.#header(text.slice(0, text.indexOf(':'))), body, metadata, total, exact };
  }

  /** Returns the numbers of tokens of the shortest frame with a header, sent at `ts`, in seconds since 1970. */
  shortest(header: Header, ts: number): FrameTokens {
    const isStale = ts !== this.#shortestAt || this.#counter.exact !== this.#isExact;
    if (isStale || this.#shortest.size >= MAX_HEADERS) {
      this.#forget();
      this.#shortestAt = ts;
    }
    const text = `@${header.agent}>${header.intent}`;
    let tokens = this.#shortest.get(text);
    if (tokens === undefined) {
      const whole = text + SHORTEST_BODY + metadataText({ mid: 'a', seq: 1, ts, sid: this.#sid });
      tokens = this.frame(whole, text.length + SHORTEST_BODY.length);
      this.#shortest.set(text, tokens);
    }
    return tokens;
  }
}

export function addTokens(a: FrameTokens, b: FrameTokens): FrameTokens {
  return {
    header: a.header + b.header,
    body: a.body + b.body,
    metadata: a.metadata + b.metadata,
    total: a.total + b.total,
    exact: a.exact && b.exact,
  };
}

/**
 * Adds a warning for each limit that a frame exceeds.
 *
 * @param unavoidable for a soft limit: `no`, or whether this is the `first` frame of a session that cannot meet it; `again` adds no warning
 */
export function warnOfLimits(
  tokens: FrameTokens,
  limits: FrameLimits,
  unavoidable: (part: FramePart) => 'no' | 'first' | 'again',
  warnings: Diagnostic[],
): void {
  for (const part of FRAME_PARTS) {
    const count = tokens[part];
    const { soft, hard } = limits[part];
    if (count <= soft) continue;
    const over: keyof Limit = count > hard ? 'hard' : 'soft';
    const which = over === 'hard' ? 'no' : unavoidable(part);
    if (which === 'again') continue;
    const name = part === 'total' ? 'frame' : part;
    const message = `The ${name} is ${tokens.exact ? '' : 'about '}${count} tokens; its ${over} limit is ${limits[part][over]}.`;
    const help =
      which === 'first' ? 'no frame of this session can meet the limit; the warning is not repeated' : undefined;
    warnings.push(warningOf(`over-${over}-limit`, message, '3.4', help));
  }
}
