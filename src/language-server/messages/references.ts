/** The places that the references in a frame lead to. */

import { type FrameToken, readFrameTokens, writtenValue } from '../../accp/language/tokens.js';
import type { Span } from '../../text/span.js';

/** A frame of a document. */
export interface PlacedFrame {
  readonly line: number;
  readonly text: string;
}

export interface Target<Frame extends PlacedFrame> {
  readonly frame: Frame;
  readonly span: Span;
}

const TIERS = ['hot', 'warm', 'cold'];

/**
 * Returns the place that a reference or an identifier leads to: of a reference to state, the key or the name in the nearest frame before it, or else
 * after it; of a correlation or causation id, the message with that id, or the first one of its chain.
 */
export function definitionOf<Frame extends PlacedFrame>(
  frame: Frame,
  offset: number,
  all: readonly Frame[],
): Target<Frame> | null {
  const { tokens } = readFrameTokens(frame.text);
  const token = tokens.find(({ start, end, role }) => start <= offset && offset <= end && role !== 'punctuation');
  if (token === undefined) return null;
  if (token.role === 'ref') return stateOf(token.text.slice(1), frame, all);
  const isId = token.part === 'metadata' && (token.key === 'cid' || token.key === 'aid');
  return isId ? messageOf(token, frame, all) : null;
}

function stateOf<Frame extends PlacedFrame>(path: string, frame: Frame, all: readonly Frame[]): Target<Frame> | null {
  const segments = path.split('.').filter(Boolean);
  const [key, ...rest] = TIERS.includes(segments[0] ?? '') && segments.length > 1 ? segments.slice(1) : segments;
  if (key === undefined) return null;
  const at = all.indexOf(frame);
  const ordered = [...all.slice(0, at).reverse(), ...all.slice(at)];
  let named: Target<Frame> | null = null;
  for (const one of ordered) {
    // A test before the tokens are read.
    if (!one.text.includes(key)) continue;
    const { tokens } = readFrameTokens(one.text);
    const own = tokens.findIndex(({ role, text, part }) => role === 'key' && part === 'payload' && text === key);
    if (own >= 0) return { frame: one, span: inner(tokens, own, rest) };
    const value = tokens.find(({ role, text }) => role === 'string' && text === key);
    if (value !== undefined) named ??= { frame: one, span: value };
  }
  return named;
}

/** Returns the key in the map of a key that the rest of a path names, as far as it is there. */
function inner(tokens: readonly FrameToken[], at: number, rest: readonly string[]): Span {
  let found = tokens[at]!;
  for (const name of rest) {
    const next = tokens.find(
      ({ role, text, start, depth }) =>
        role === 'key' && text === name && start > found.start && depth === found.depth + 1,
    );
    const end =
      tokens.find(({ role, start, depth }) => role === 'key' && start > found.start && depth <= found.depth)?.start ??
      Number.POSITIVE_INFINITY;
    if (next === undefined || next.start > end) break;
    found = next;
  }
  return found;
}

function messageOf<Frame extends PlacedFrame>(
  token: FrameToken,
  frame: Frame,
  all: readonly Frame[],
): Target<Frame> | null {
  const id = writtenValue(frame.text, readFrameTokens(frame.text).tokens, 'metadata', token.key!) ?? token.text;
  for (const key of token.key === 'cid' ? ['mid', 'cid'] : ['mid']) {
    for (const one of all) {
      if (!one.text.includes(id)) continue;
      const { tokens } = readFrameTokens(one.text);
      const own = tokens.findIndex(({ role, part, text }) => role === 'key' && part === 'metadata' && text === key);
      if (own >= 0 && writtenValue(one.text, tokens, 'metadata', key) === id) {
        const { start } = tokens[own + 2]!;
        return { frame: one, span: { start, end: start + id.length } };
      }
    }
  }
  return null;
}
