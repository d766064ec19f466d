/** The protocols as the commands see them: one shape for both, so that no command knows which one it serves. */
import { findPackets } from '../aacp/find.js';
import {
  canonicalizePacket,
  explainPacket,
  type Packet,
  type Dialect as PacketDialect,
  type Profile,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../aacp/index.js';
import { findFrames } from '../accp/find.js';
import { explainFrame, type Frame, type Dialect as FrameDialect, printFrame, tryParseFrame } from '../accp/index.js';
import type { Severity } from '../text/diagnostic.js';
import type { ParseError, Result } from '../text/errors.js';
import type { Limits } from '../text/limits.js';
import type { Found } from '../text/prose.js';
import type { Span } from '../text/span.js';

/** One finding of `check`. */
export interface Finding {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly span: Span | null;
  readonly section?: string;
  readonly help?: string | undefined;
}

/** What the options of a command come to. */
export interface Reading {
  readonly dialect: string;
  readonly spans?: boolean;
  readonly profile?: Profile;
  readonly sortParams?: boolean;
  readonly limits?: Limits;
}

/** A protocol whose trees are of type `Node`. Methods, and not properties, so that one can stand for any `Protocol`. */
export interface Protocol<Node = unknown> {
  readonly name: 'accp' | 'aacp';
  /** What one message is called. */
  readonly message: string;
  readonly dialects: readonly string[];
  parse(text: string, reading: Reading): Result<Node, ParseError>;
  /** The canonical text. Throws PrintError. */
  format(node: Node, reading: Reading): string;
  explain(node: Node): string;
  /** Errors and warnings, in the order of the text. */
  check(text: string, reading: Reading): readonly Finding[];
  find(text: string, reading: Reading): readonly Found<Node, ParseError>[];
}

const accp: Protocol<Frame> = {
  name: 'accp',
  message: 'frame',
  dialects: ['strict', 'lenient'],
  parse: (text, { dialect, spans, limits }) =>
    tryParseFrame(text, { ...limits, dialect: dialect as FrameDialect, spans }),
  format: (frame, { sortParams, limits }) => printFrame(frame, { ...limits, sortParams }),
  explain: explainFrame,
  check: (text, { dialect, limits }) => {
    const result = tryParseFrame(text, { ...limits, dialect: dialect as FrameDialect });
    if (result.ok) return [];
    const { code, message, span, help } = result.error;
    return [{ code, severity: 'error', message, span, help }];
  },
  find: (text, { dialect, spans, limits }) => findFrames(text, { ...limits, dialect: dialect as FrameDialect, spans }),
};

const aacp: Protocol<Packet> = {
  name: 'aacp',
  message: 'packet',
  dialects: ['strict', 'tolerant'],
  parse: (text, { dialect, spans, limits }) =>
    tryParsePacket(text, { ...limits, dialect: dialect as PacketDialect, spans }),
  format: (packet) => printPacket(canonicalizePacket(packet)),
  explain: explainPacket,
  check: (text, { profile, limits }) => {
    const { errors, warnings } = validatePacket(text, { ...limits, profile });
    return [...errors, ...warnings].sort((a, b) => (a.span?.start ?? 0) - (b.span?.start ?? 0));
  },
  find: (text, { dialect, spans, limits }) =>
    findPackets(text, { ...limits, dialect: dialect as PacketDialect, spans }),
};

export const PROTOCOLS: readonly Protocol[] = [accp, aacp];
