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

/** The tokens of a header, and of the shortest frame with it that is sent at a time, in seconds since 1970. */
interface KnownHeader {
  readonly tokens: number;
  shortest: FrameTokens | undefined;
  shortestAt: number;
}

interface KnownTokens {
  readonly sent?: number | undefined;
  readonly body?: number | undefined;
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
  /** By agent and intent, whose texts are not new in each frame. */
  readonly #headers = new Map<string, Map<string, KnownHeader>>();
  #size = 0;
  readonly #joints = new Map<string, number>();
  /** `true` if the stored numbers are exact: a counter may load its vocabulary later. */
  #isExact: boolean;

  /** @param sid the session identifier if every frame has it */
  constructor(counter: TokenCounter, sid: string | undefined) {
    this.#counter = counter;
    this.#sid = sid;
    this.#isExact = counter.exact;
  }

  header(header: Header): number {
    return this.#known(header).tokens;
  }

  #known({ agent, intent }: Header): KnownHeader {
    this.#checkExact();
    let ofAgent = this.#headers.get(agent);
    let known = ofAgent?.get(intent);
    if (known === undefined) {
      if (this.#size >= MAX_HEADERS) this.#forget();
      ofAgent = this.#headers.get(agent) ?? new Map();
      known = { tokens: this.#counter.count(`@${agent}>${intent}`), shortest: undefined, shortestAt: -1 };
      this.#headers.set(agent, ofAgent.set(intent, known));
      this.#size++;
    }
    return known;
  }

  #checkExact(): void {
    if (this.#counter.exact === this.#isExact) return;
    this.#forget();
    this.#joints.clear();
    this.#isExact = this.#counter.exact;
  }

  #forget(): void {
    this.#headers.clear();
    this.#size = 0;
  }

  /**
   * Counts a text with header and body, `@agent>intent:operation{payload}`, if that tells the tokens of its parts.
   *
   * @param byName the tokens of the text with the agent by name, if they are known
   */
  whole(text: string, header: Header, byName?: number): number | undefined {
    if (!this.#counter.splitsAtSymbols) return undefined;
    if (byName === undefined) return this.#counter.count(text);
    const own = headerOf(text, header);
    return own === header ? byName : byName - this.header(header) + this.header(own);
  }

  /** Counts the body of a text with header and body. @param whole the tokens of the text, if they are known */
  body(text: string, header: Header, whole = this.whole(text, header)): number {
    const end = text.indexOf(':');
    const isCut = this.#counter.splitsAtSymbols && isWordBefore(text, end);
    if (isCut && whole !== undefined) return whole - this.header(headerOf(text, header));
    return this.#counter.count(text.slice(end));
  }

  /**
   * Counts a frame.
   *
   * @param length the length of header and body
   * @param known the tokens of header and body, and of the body, as far as they are known
   */
  frame(text: string, length: number, header: Header, { sent, body }: KnownTokens = {}): FrameTokens {
    const { exact, splitsAtSymbols } = this.#counter;
    this.#checkExact();
    const plain = text.slice(0, length);
    const known = splitsAtSymbols ? (sent ?? this.#counter.count(plain)) : undefined;
    const metadata = this.#counter.count(text.slice(length));
    const joint = known === undefined ? undefined : this.#joint(plain);
    return {
      header: this.header(headerOf(text, header)),
      body: body ?? this.body(plain, header, known),
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
    const known = this.#known(header);
    if (known.shortest === undefined || known.shortestAt !== ts) {
      const plain = `@${header.agent}>${header.intent}${SHORTEST_BODY}`;
      const whole = plain + metadataText({ mid: 'a', seq: 1, ts, sid: this.#sid });
      known.shortest = this.frame(whole, plain.length, header);
      known.shortestAt = ts;
    }
    return known.shortest;
  }
}

/** Returns the header of a text, in which the agent may be a number. @param header the one with the agent by name */
function headerOf(text: string, header: Header): Header {
  const { agent } = header;
  if (text.startsWith(agent, 1) && text[agent.length + 1] === '>') return header;
  const end = text.indexOf('>');
  return { agent: text.slice(1, end), intent: text.slice(end + 1, text.indexOf(':')) };
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
