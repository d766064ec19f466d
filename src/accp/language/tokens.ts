/** The parts of a frame, or of a text that is about to become one: the token table of the highlighters, with the place of each token. */
import moo from 'moo';
import { frameTokens } from '../../../grammar/accp.tokens.js';
import type { Span } from '../../text/span.js';

const lexer = moo.compile(frameTokens);

type Part = 'agent' | 'intent' | 'operation' | 'payload' | 'metadata' | 'end';
type ValueKind = 'string' | 'number' | 'boolean' | 'null' | 'ref' | 'mention' | 'escape';

export interface FrameToken extends Span {
  readonly role: 'agent' | 'intent' | 'operation' | 'key' | ValueKind | 'punctuation' | 'invalid';
  readonly text: string;
  /** The block that contains the token. */
  readonly part: Part;
  /** The number of open brackets: 1 for the parameters of a payload. */
  readonly depth: number;
  /** The key of the parameter, of a value. */
  readonly key: string | undefined;
}

interface Bracket {
  readonly isArray: boolean;
  readonly keys: string[];
  key: string | undefined;
  /** The key whose value the bracket is. */
  readonly outer: string | undefined;
  expectsKey: boolean;
}

/** The place after the last token. */
export interface FramePlace {
  readonly part: Part;
  readonly depth: number;
  readonly isArray: boolean;
  readonly expectsKey: boolean;
  /** The key of the innermost parameter. */
  readonly key: string | undefined;
  /** The keys of the innermost bracket. */
  readonly keys: readonly string[];
  /** The brackets that close what is open. */
  readonly closing: string;
}

const VALUES: Readonly<Record<string, ValueKind>> = {
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  ref: 'ref',
  mention: 'mention',
  escape: 'escape',
};

/** Splits any text into the parts of a frame. Never fails. */
export function readFrameTokens(text: string): { readonly tokens: readonly FrameToken[]; readonly place: FramePlace } {
  const tokens: FrameToken[] = [];
  const open: Bracket[] = [];
  let part: Part = 'agent';

  const add = (role: FrameToken['role'], token: string, start: number, key?: string): void => {
    tokens.push({ role, text: token, start, end: start + token.length, part, depth: open.length, key });
  };

  const header = (type: string, token: string, start: number): void => {
    if (type === 'open' && (part === 'end') === (token === '[')) {
      add('punctuation', token, start);
      part = part === 'end' ? 'metadata' : 'payload';
      open.push({ isArray: false, keys: [], key: undefined, outer: undefined, expectsKey: true });
    } else if (part === 'end' || type === 'invalid') add('invalid', token, start);
    else if (token === '>' || token === ':') {
      add('punctuation', token, start);
      part = token === '>' ? 'intent' : 'operation';
    } else add(type === 'separator' ? 'punctuation' : (part as 'agent'), token, start);
  };

  const body = (type: string, token: string, start: number, inner: Bracket): void => {
    if (type === 'open') {
      add('punctuation', token, start);
      const outer = inner.key ?? inner.outer;
      open.push({ isArray: token === '[', keys: [], key: undefined, outer, expectsKey: token === '{' });
    } else if (type === 'close') {
      open.pop();
      add('punctuation', token, start);
      if (open.length === 0) part = 'end';
    } else if (token === '|' || token === ',') {
      add('punctuation', token, start);
      inner.expectsKey = !inner.isArray;
      inner.key = undefined;
    } else if (type === 'separator') {
      add('punctuation', token, start);
      if (token === ':') inner.expectsKey = false;
    } else if (type === 'invalid') add('invalid', token, start);
    else if (type === 'key' || inner.expectsKey) {
      add('key', token, start);
      if (inner.isArray) return;
      inner.key = token;
      inner.keys.push(token);
    } else add(VALUES[type] ?? 'string', token, start, inner.key ?? inner.outer);
  };

  for (const { type = 'text', text: token, offset } of lexer.reset(text)) {
    const inner = open.at(-1);
    if (inner === undefined) header(type, token, offset);
    else body(type, token, offset, inner);
  }
  const inner = open.at(-1);
  const place: FramePlace = {
    part,
    depth: open.length,
    isArray: inner?.isArray ?? false,
    expectsKey: inner?.expectsKey ?? false,
    key: inner?.key ?? inner?.outer,
    keys: inner?.keys ?? [],
    closing: open
      .map(({ isArray }, depth) => (isArray || (depth === 0 && part === 'metadata') ? ']' : '}'))
      .reverse()
      .join(''),
  };
  return { tokens, place };
}

/** Returns the value of a parameter of the payload as it is written; `undefined` if there is none. */
export function writtenValue(text: string, tokens: readonly FrameToken[], part: Part, key: string): string | undefined {
  const at = tokens.findIndex(
    (token) => token.role === 'key' && token.part === part && token.depth === 1 && token.text === key,
  );
  const first = tokens[at + 2];
  if (at < 0 || first === undefined || first.key !== key) return undefined;
  let last = at + 2;
  while (tokens[last + 1]?.key === key && tokens[last + 1]?.depth === 1) last++;
  return text.slice(first.start, tokens[last]!.end);
}
