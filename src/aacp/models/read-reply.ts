import { findPackets } from '../find.js';

interface ReplyPart {
  readonly text: string;
  readonly isFenced: boolean;
  /** `false` if the fence is not closed. */
  readonly isWhole: boolean;
}

/** Removes `<think>...</think>` and similar, even if the opening tag was part of the prompt. An unclosed tag removes the rest. */
function withoutReasoning(text: string): string {
  let kept = '';
  let at = 0;
  let open: string | null = null;
  for (const match of text.matchAll(/<(\/?)(think|thinking|thought|reasoning|reflection)>/gi)) {
    const tag = match[2]!.toLowerCase();
    const isClosing = match[1] === '/';
    if (open === null && !isClosing) {
      kept += text.slice(at, match.index);
      open = tag;
    } else if (isClosing && (open === null || open === tag)) {
      // Without an opening tag, all text so far was reasoning.
      if (open === null) kept = '';
      open = null;
      at = match.index + match[0].length;
    }
  }
  return open === null ? kept + text.slice(at) : kept;
}

/** Splits a text at fences of backticks or tildes. */
function partsOf(text: string): readonly ReplyPart[] {
  const parts: ReplyPart[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const end = (isWhole: boolean): void => {
    if (lines.length > 0) parts.push({ text: lines.join('\n'), isFenced: fence !== null, isWhole });
    lines = [];
  };
  for (const line of text.split(/\r?\n/)) {
    const marks: string | undefined = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const after = marks === undefined ? '' : line.slice(line.indexOf(marks) + marks.length).trim();
    if (fence === null && marks !== undefined && !after.includes('`')) {
      end(true);
      fence = marks;
    } else if (fence !== null && marks?.startsWith(fence) && after === '') {
      end(true);
      fence = null;
    } else lines.push(line);
  }
  end(fence === null);
  return parts;
}

/** A slot that begins with a key, a TASK or a DOM. */
const SLOT = /^\s*(?:[a-z][a-z0-9_]*\s*:|[A-Z][A-Z0-9_-]*\s*(?:\||$))/;
const BAR_AND_SLOT = /^\s*\|\s*[a-z][a-z0-9_]*\s*:/;

/** Joins packets that were wrapped before or after a bar. Rows of tables are left as they are. */
function unwrapped(text: string): string {
  const whole: string[][] = [];
  /** The last line of the packet so far. */
  let before: string | null = null;
  for (const line of text.split('\n')) {
    if (before !== null && (before.endsWith('|') ? SLOT : BAR_AND_SLOT).test(line)) {
      const pieces = whole.at(-1)!;
      pieces.push(pieces.pop()!.trimEnd(), line.trim());
      before = line.trimEnd();
    } else {
      whole.push([line]);
      before = line.includes('|') && !line.trimStart().startsWith('|') ? line.trimEnd() : null;
    }
  }
  return whole.map((pieces) => pieces.join('')).join('\n');
}

/** The reason why a reply has no usable packet. `unclear-end`: prose follows the packet, or the reply was cut off. */
export type ReplyProblem = 'empty' | 'no-packet' | 'several-packets' | 'unclear-end';

/** The result of `readReply`. */
export type ReadReply =
  | {
      /** The packet as written. The validator decides whether it is valid. */
      readonly packet: string;
    }
  | {
      /** The kind of the problem. */
      readonly problem: ReplyProblem;
      /** The problem as a sentence. */
      readonly message: string;
    };

interface Candidate {
  readonly packet: string;
  /** `true` if the end of the packet is certain. */
  readonly isClear: boolean;
}

/**
 * Extracts the packet from a reply: a line of its own, the member `packet` of a JSON object, between fences or quotes, in prose, wrapped at
 * its bars, after reasoning, or repeated. If the reply contains different packets, returns a problem. Accepts any text. Runs in linear
 * time.
 *
 * @throws TypeError if `text` is not a string
 */
export function readReply(text: string): ReadReply {
  if (typeof text !== 'string') throw new TypeError(`text must be a string; got ${typeof text}`);
  if (text.trim() === '') return { problem: 'empty', message: 'The reply is empty.' };
  const parts = partsOf(withoutReasoning(text.replace(/^\uFEFF/, '')));
  const found = parts.flatMap((part) => candidatesIn(part, parts.length === 1));
  const clear = new Set(found.filter(({ isClear }) => isClear).map(({ packet }) => packet));
  const [sole = null] = clear;
  // A packet that was cut off at an unclear end is not another packet.
  const unclear = found.filter(({ packet, isClear }) => !isClear && !sole?.startsWith(packet));
  const all = new Set([...clear, ...unclear.map(({ packet }) => packet)]);

  if (all.size > 1) {
    return { problem: 'several-packets', message: `The reply contains ${all.size} different packets instead of one.` };
  }
  if (sole !== null) return { packet: sole };
  if (all.size === 0) return { problem: 'no-packet', message: 'The reply contains no packet.' };
  return {
    problem: 'unclear-end',
    message: 'The end of the packet is unclear: the reply must be the complete packet, alone on a line.',
  };
}

function candidatesIn({ text, isFenced, isWhole }: ReplyPart, isAll: boolean): readonly Candidate[] {
  const inJson = jsonPackets(text);
  if (inJson !== null) return inJson;
  const found = packetsIn(unwrapped(text));
  if (found.length === 0 && (isFenced || isAll)) return soleLine(text, isWhole);
  return isWhole ? found : found.map((candidate) => ({ ...candidate, isClear: false }));
}

/** Reads packets in JSON. Returns `null` if there is no object with a packet. */
function jsonPackets(text: string): readonly Candidate[] | null {
  if (!text.includes('"packet"')) return null;
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}') + 1;
  // One object, or an array of objects. Other forms are read as prose.
  const open = text.trimStart().startsWith('[') ? text.indexOf('[') : start;
  const close = open === start ? end : text.lastIndexOf(']') + 1;
  const members = packetMembers(parsed(text.slice(open, close)));
  if (members.length === 0) return null;
  const around = [text.slice(0, open), text.slice(close)].flatMap((prose) => packetsIn(unwrapped(prose)));
  const packets = members.filter((member) => typeof member === 'string').map((member) => unwrapped(member).trim());
  return [...packets.filter(Boolean).map((packet) => ({ packet, isClear: true })), ...around];
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function packetMembers(value: unknown): readonly unknown[] {
  const objects: readonly unknown[] = Array.isArray(value) ? value : [value];
  return objects
    .filter((one) => typeof one === 'object' && one !== null && Object.hasOwn(one, 'packet'))
    .map((one) => (one as { readonly packet: unknown }).packet);
}

function packetsIn(text: string): readonly Candidate[] {
  return findPackets(text).map(({ start, end, text: source, decoded = source }) => ({
    packet: decoded.trim(),
    isClear: endsClearly(text, start, end),
  }));
}

const CLOSING: Readonly<Partial<Record<string, string>>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '\u201C': '\u201D',
  '\u2018': '\u2019',
  '\u00AB': '\u00BB',
  '(': ')',
  '[': ']',
  '<': '>',
  '*': '*',
};
/** Quotes that must be closed. Otherwise the reply was cut off. */
const QUOTES = '"\'`\u201C\u2018\u00AB';
const ENDS = '\u201D\u2019\u00BB';
/** The end of a sentence, a string or an object. */
const ONLY_PUNCTUATION = /^[\s\\.,;:!?*~\u2026"'`\u2019\u201D\u00BB)\]}>\u3002]*$/;
/** The number of characters that are inspected after a packet. */
const LOOKAHEAD = 200;

/** Returns whether a packet ends with its line, with a closing quote or bracket, or with the sentence. */
function endsClearly(text: string, start: number, end: number): boolean {
  const [rest = ''] = text.slice(end, end + LOOKAHEAD).split('\n');
  const before = text[start - 1] ?? '';
  const closing = CLOSING[before];
  if (closing !== undefined && rest.replace(/^\\+/, '').startsWith(closing)) return true;
  if (before !== '' && QUOTES.includes(before)) return false;
  if (before === '>' && rest.startsWith('</')) return true;
  return ONLY_PUNCTUATION.test(rest);
}

/** Takes a reply of one line with a bar as a packet. The validator reports its faults. */
function soleLine(text: string, isClear: boolean): readonly Candidate[] {
  const line = unwrapped(text).trim();
  if (line.includes('\n') || !line.includes('|')) return [];
  const isQuote = (at: number): boolean => QUOTES.includes(line[at]!) || ENDS.includes(line[at]!);
  let start = 0;
  let end = line.length;
  while (start < end && isQuote(start)) start++;
  while (end > start && isQuote(end - 1)) end--;
  return [{ packet: line.slice(start, end), isClear }];
}
