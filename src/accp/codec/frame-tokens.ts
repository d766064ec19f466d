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
/** The first characters of every metadata block, up to a symbol. */
const METADATA_START = '[mid';
/** The maximum number of symbols at the end of a body whose tokens are stored. */
const MAX_JOINT = 16;
/** The body of the shortest frame. */
const SHORTEST_BODY = ':a{}';

/** A counter for the frames of one session, which have few headers. */
export class FrameTokenCounter {
  readonly #counter: TokenCounter;
  readonly #sid: string | undefined;
  readonly #headers = new Map<string, number>();
  readonly #shortest = new Map<string, FrameTokens>();
  readonly #joints = new Map<string, number>();
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
    this.#joints.clear();
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

  /** Counts a text with header and body, `@agent>intent:operation{payload}`, if that tells the tokens of its parts. */
  known(text: string): number | undefined {
    return this.#counter.splitsAtSymbols ? this.#counter.count(text) : undefined;
  }

  /** Counts the body of a text with header and body. @param whole the tokens of the text, if they are known */
  body(text: string, whole = this.known(text)): number {
    const end = text.indexOf(':');
    const isCut = this.#counter.splitsAtSymbols && isWordBefore(text, end);
    if (isCut && whole !== undefined) return whole - this.#header(text.slice(0, end));
    return this.#counter.count(text.slice(end));
  }

  /**
   * Counts a frame.
   *
   * @param length the length of header and body
   * @param whole the tokens of header and body, if they are known
   * @param body the tokens of the body, if they are known
   */
  frame(text: string, length: number, whole?: number, body?: number): FrameTokens {
    const { exact } = this.#counter;
    const plain = text.slice(0, length);
    const known = this.#counter.splitsAtSymbols ? (whole ?? this.#counter.count(plain)) : undefined;
    const metadata = this.#counter.count(text.slice(length));
    const joint = known === undefined ? undefined : this.#joint(plain);
    return {
      // The agent may be a number.
      header: this.#header(text.slice(0, text.indexOf(':'))),
      body: body ?? this.body(plain, known),
      metadata,
      total: joint === undefined ? this.#counter.count(text) : known! + metadata + joint,
      exact,
    };
  }

  /**
   * Returns what the tokens of a frame exceed those of its two parts by, mostly a negative number: the symbols at the end of the body are one
   * piece with the first of the metadata, `[`. Returns `undefined` if that is not certain.
   */
  #joint(plain: string): number | undefined {
    let start = plain.length;
    while (start > 0 && isSymbol(plain.charCodeAt(start - 1))) start--;
    const end = plain.slice(start);
    const known = this.#joints.get(end);
    if (known !== undefined) return isWordBefore(plain, start) ? known : undefined;
    if (end.length > MAX_JOINT || end.startsWith("'") || !isWordBefore(plain, start)) return undefined;
    const counted =
      this.#counter.count(end + METADATA_START) - this.#counter.count(end) - this.#counter.count(METADATA_START);
    if (this.#joints.size >= MAX_HEADERS) this.#joints.clear();
    this.#joints.set(end, counted);
    return counted;
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

/** Returns `true` for an ASCII symbol, which is neither a letter nor a digit nor white space. */
function isSymbol(code: number): boolean {
  return code > 0x20 && code < 0x7f && !isWord(code);
}

function isWordBefore(text: string, at: number): boolean {
  return at > 0 && isWord(text.charCodeAt(at - 1));
}

/** Returns `true` for an ASCII letter or digit. */
function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
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
