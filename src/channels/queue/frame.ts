/**
 * The messages of a connection over a message queue: a line of ASCII, then the bytes of a text or of a part of one. Texts, parts and the end
 * are numbered from 1.
 */

/** The state of the input of a side, which each of its frames reports. */
export interface Acknowledgement {
  /** The number of the first frame that has not arrived. */
  readonly next: number;
  /** The number of the first frame that has arrived after a missing one; 0 if none is missing. */
  readonly seen: number;
  /** The highest number that the other side may send. */
  readonly maxNumber: number;
  /** The sum of the lengths of all numbered frames from which on the other side may send no more; the last one may exceed it. */
  readonly maxBytes: number;
}

/** A frame with a number, which is delivered once and in order. */
export interface NumberedFrame {
  readonly kind: 'text' | 'part' | 'end';
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** A frame of a connection. `ask` is an acknowledgement that requests one. */
export type Frame =
  | (NumberedFrame & { readonly ack: Acknowledgement })
  | { readonly kind: 'ack' | 'ask'; readonly ack: Acknowledgement }
  | { readonly kind: 'close'; readonly reason: string };

/** An upper bound for the length of the line before the bytes. */
export const MAX_HEADER_BYTES = 100;
/** The maximum length of a reason in characters. */
const MAX_REASON_LENGTH = 500;
const LF = 0x0a;
const NOTHING = new Uint8Array(0);
const HEADER = /^(?:(text|part|end) ([1-9]\d{0,15})|ack|ask) (\d{1,16}) (\d{1,16}) (\d{1,16}) (\d{1,16})$/;

const encoder = new TextEncoder();

/** Writes a numbered frame. */
export function numberedFrame({ kind, number, bytes }: NumberedFrame, ack: Acknowledgement): Uint8Array {
  const header = `${kind} ${number} ${fieldsOf(ack)}\n`;
  const message = new Uint8Array(header.length + bytes.length);
  encoder.encodeInto(header, message);
  message.set(bytes, header.length);
  return message;
}

/** Writes an acknowledgement. */
export function ackFrame(kind: 'ack' | 'ask', ack: Acknowledgement): Uint8Array {
  return encoder.encode(`${kind} ${fieldsOf(ack)}\n`);
}

/** Writes the close of a connection. */
export function closeFrame(reason: string): Uint8Array {
  return encoder.encode(`close\n${reason.slice(0, MAX_REASON_LENGTH)}`);
}

/** Reads a frame. @returns `undefined` if the message is not a frame, such as a message of another program */
export function frameOf(message: Uint8Array): Frame | undefined {
  const end = message.subarray(0, MAX_HEADER_BYTES).indexOf(LF);
  if (end < 0) return undefined;
  const header = String.fromCharCode(...message.subarray(0, end));
  const bytes = end + 1 === message.length ? NOTHING : message.subarray(end + 1);
  if (header === 'close') return { kind: 'close', reason: new TextDecoder().decode(bytes).slice(0, MAX_REASON_LENGTH) };
  const [, kind, number, next, seen, maxNumber, maxBytes] = HEADER.exec(header) ?? [];
  if (next === undefined) return undefined;
  const ack = { next: Number(next), seen: Number(seen), maxNumber: Number(maxNumber), maxBytes: Number(maxBytes) };
  if (kind !== undefined) return { kind: kind as NumberedFrame['kind'], number: Number(number), bytes, ack };
  return { kind: header.startsWith('ask') ? 'ask' : 'ack', ack };
}

function fieldsOf({ next, seen, maxNumber, maxBytes }: Acknowledgement): string {
  return `${next} ${seen} ${maxNumber} ${maxBytes}`;
}
