/** How many tokens a frame and its parts may be (draft-benzing-accp-00, section 3.4, Table 3). */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { TokenCounter } from '../../tokens/counter.js';
import type { FrameTokens } from './outcome.js';

/** Tokens. Beyond `soft` there is a warning, beyond `hard` the message is split. */
export interface Limit {
  readonly soft: number;
  readonly hard: number;
}

export type FrameLimits = Readonly<Record<FramePart, Limit>>;

export type FramePart = 'header' | 'body' | 'metadata' | 'total';

export const FRAME_LIMITS: FrameLimits = {
  header: { soft: 5, hard: 10 },
  body: { soft: 50, hard: 200 },
  metadata: { soft: 10, hard: 30 },
  total: { soft: 65, hard: 240 },
};

const PARTS: readonly FramePart[] = ['header', 'body', 'metadata', 'total'];

/** @throws TypeError on limits that are none */
export function resolveFrameLimits(limits: Partial<FrameLimits> = {}): FrameLimits {
  const resolved = { ...FRAME_LIMITS, ...limits };
  for (const part of PARTS) {
    const { soft, hard } = resolved[part];
    if (!(soft >= 0 && hard >= soft)) {
      throw new TypeError(`limits.${part}: soft is at least 0 and hard at least soft; got ${soft} and ${hard}`);
    }
  }
  return resolved;
}

/** A frame as text, in the parts of Table 3. */
export interface FrameParts {
  /** `@agent>intent` */
  readonly header: string;
  /** `:operation{payload}` */
  readonly body: string;
  /** `[...]`, or empty. */
  readonly metadata: string;
}

/** Where the parts of a canonical frame end: no delimiter stands unescaped where it does not belong. */
export function partsOf(frame: string): FrameParts {
  const bodyStart = frame.indexOf(':');
  const close = frame.lastIndexOf('}[');
  const bodyEnd = close < 0 ? frame.length : close + 1;
  return {
    header: frame.slice(0, bodyStart),
    body: frame.slice(bodyStart, bodyEnd),
    metadata: frame.slice(bodyEnd),
  };
}

export function countFrame(frame: string, counter: TokenCounter): FrameTokens {
  const { header, body, metadata } = partsOf(frame);
  return {
    header: counter.count(header),
    body: counter.count(body),
    metadata: counter.count(metadata),
    total: counter.count(frame),
    exact: counter.exact,
  };
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

/** The parts that splitting the payload makes smaller. */
export function isOverHardLimit(tokens: FrameTokens, limits: FrameLimits): boolean {
  return tokens.body > limits.body.hard || tokens.total > limits.total.hard;
}

/** A part of a frame over one of its limits. */
export interface OverLimit {
  readonly part: FramePart;
  readonly over: 'soft' | 'hard';
  readonly warning: Diagnostic;
}

/** Finds the parts of a frame that are over a limit, each with its warning. */
export function overLimits(tokens: FrameTokens, limits: FrameLimits): OverLimit[] {
  const found: OverLimit[] = [];
  for (const part of PARTS) {
    const { soft, hard } = limits[part];
    const count = tokens[part];
    if (count <= soft) continue;
    const over = count > hard ? 'hard' : 'soft';
    const about = tokens.exact ? '' : 'about ';
    const warning: Diagnostic = {
      code: `over-${over}-limit`,
      severity: 'warning',
      message: `The ${part === 'total' ? 'frame' : part} is ${about}${count} tokens; its ${over} limit is ${over === 'hard' ? hard : soft}.`,
      span: null,
      section: '3.4',
    };
    found.push({ part, over, warning });
  }
  return found;
}
