/** One interface to the parsers, printers and validators of both protocols. */
import { findPackets } from '../../aacp/find.js';
import {
  canonicalizePacket,
  explainPacket,
  type Packet,
  type Dialect as PacketDialect,
  type Profile,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../aacp/index.js';
import { findFrames } from '../../accp/find.js';
import { explainFrame, type Frame, type Dialect as FrameDialect, printFrame, tryParseFrame } from '../../accp/index.js';
import type { Report, Severity } from '../../text/diagnostic.js';
import { type ParseError, PrintError, type Result } from '../../text/errors.js';
import type { Limits } from '../../text/limits.js';
import type { Found } from '../../text/prose.js';
import type { Protocol } from '../protocols.js';
import { type Line, messagesAmong, readLines, type Source } from './input.js';
import { forEachLine, type Reporting, reject } from './report.js';

export interface Reading {
  readonly dialect: string;
  readonly spans?: boolean;
  readonly profile?: Profile;
  readonly sortParams?: boolean;
  readonly limits?: Limits;
}

/** The operations of a protocol. They are methods, since methods are bivariant in `Node`. */
export interface Reader<Node = unknown> {
  parse(text: string, reading: Reading): Result<Node, ParseError>;
  /** Prints the canonical text. @throws PrintError if the node has none */
  format(node: Node, reading: Reading): string;
  explain(node: Node): string;
  /** Returns the errors and warnings in text order. */
  check(text: string, reading: Reading): readonly (Report & { readonly severity: Severity })[];
  find(text: string, reading: Reading): readonly Found<Node, ParseError>[];
}

const accp: Reader<Frame> = {
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

const aacp: Reader<Packet> = {
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

export const READERS: Readonly<Record<Protocol['name'], Reader>> = { accp, aacp };

interface Handling {
  /** The lines of the input. @default those of the invocation */
  readonly lines?: AsyncIterable<Line> | Iterable<Line>;
  /** Called with each blank line and comment. */
  readonly other?: (text: string) => Promise<void>;
  /** Reports an error about a line. @default prints it */
  readonly refuse?: (line: Line, error: ParseError | PrintError) => Promise<void>;
}

/** Parses each line and passes it to `handle`, which accepts or rejects it. Reports errors of parsing and printing. @returns the exit code */
export async function forEachMessage(
  invocation: Source & Reporting & { readonly protocol: Protocol },
  reading: Reading,
  handle: (node: unknown, line: Line) => Promise<boolean>,
  { lines = readLines(invocation), other, refuse = (line, error) => reject(invocation, line, error) }: Handling = {},
): Promise<number> {
  const { protocol } = invocation;
  const one = async (line: Line): Promise<boolean> => {
    const result = READERS[protocol.name].parse(line.text, reading);
    try {
      if (result.ok) return await handle(result.value, line);
      await refuse(line, result.error);
    } catch (thrown) {
      if (!(thrown instanceof PrintError)) throw thrown;
      await refuse(line, thrown);
    }
    return false;
  };
  const { exitCode } = await forEachLine(invocation, protocol.message, one, messagesAmong(lines, other));
  return exitCode;
}
