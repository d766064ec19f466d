/** The goals of the parsers, printers, sessions, encoders and connections: the required value (`floor`), and the aim. */
export interface Goal {
  readonly id: string;
  readonly title: string;
  readonly floor: number;
  readonly aim: number;
  /** If true, the figure must not exceed the floor; otherwise it must reach it. */
  readonly lessIsBetter?: boolean;
  readonly unit: string;
  /** The server or package that the measurement requires. Without it, the goal is skipped. */
  readonly requires?: string;
  /** The reason that keeps the figure from the aim. */
  readonly bound?: string;
}

export const GOALS: readonly Goal[] = [
  {
    id: 'accp',
    title: 'ACCP text to tree, against JSON.parse',
    floor: 1.8,
    aim: 2.2,
    unit: 'x',
    bound: 'a tree has several times the memory of plain JSON',
  },
  {
    id: 'hand',
    title: 'the same against the hand-written baseline',
    floor: 0.85,
    aim: 1,
    unit: 'x',
  },
  { id: 'category', title: 'the worst ordinary content, against JSON.parse', floor: 1, aim: 1.2, unit: 'x' },
  {
    id: 'escapes',
    title: 'every third character escaped, against JSON.parse',
    floor: 0.8,
    aim: 1,
    unit: 'x',
    bound: 'most of what a frame escapes is plain text in JSON',
  },
  {
    id: 'big-integers',
    title: 'integers of 17 to 41 digits, against JSON.parse',
    floor: 0.4,
    aim: 0.6,
    unit: 'x',
    bound: 'JSON.parse rounds them',
  },
  { id: 'other-numbers', title: 'numbers that are not canonical, against JSON.parse', floor: 0.6, aim: 0.8, unit: 'x' },
  { id: 'growth', title: 'texts of 10 KB to 1 MB, worst kind, against 1 KB', floor: 0.5, aim: 0.8, unit: 'x' },
  { id: 'aacp', title: 'AACP text to tree, against JSON.parse', floor: 3.2, aim: 3.5, unit: 'x' },
  {
    id: 'recognize',
    title: 'recognize only, against JSON.parse',
    floor: 3,
    aim: 5,
    unit: 'x',
    bound:
      'a step for every two characters; spelled in ASCII, text in other scripts is up to five times as long as in JSON',
  },
  {
    id: 'envelope',
    title: 'envelope only, against JSON.parse',
    floor: 2.2,
    aim: 3,
    unit: 'x',
    bound: 'a payload is read to find its end: recognizing alone takes three quarters of the time',
  },
  { id: 'print', title: 'canonical print (printFrame), against JSON.stringify', floor: 1.3, aim: 1.6, unit: 'x' },
  { id: 'print-escapes', title: 'the same for escaped text', floor: 1, aim: 1.3, unit: 'x' },
  { id: 'print-packet', title: 'printPacket, against a straightforward printer', floor: 1, aim: 1.3, unit: 'x' },
  {
    id: 'spans',
    title: 'cost of spans on every node, a copy of the parser for each mode',
    floor: 8,
    aim: 4,
    lessIsBetter: true,
    unit: '%',
    bound:
      'the cost is creating the objects, of 40 bytes each, as large as most nodes: with one object for all, spans cost 1 %',
  },
  {
    id: 'all-spans',
    title: 'the same with spans of parameters, which are not nodes',
    floor: 8,
    aim: 4,
    lessIsBetter: true,
    unit: '%',
    bound: 'the same: there are nearly as many parameters as nodes',
  },
  { id: 'guard', title: 'cost of the depth guard', floor: 8, aim: 4, lessIsBetter: true, unit: '%' },
  {
    id: 'reject',
    title: 'a bad frame, against JSON.parse throwing',
    floor: 1 / 1.5,
    aim: 1,
    unit: 'x',
    bound: 'an invalid text is read twice, the second time for the place and the expectations',
  },
  {
    id: 'size-accp',
    title: 'generated/accp.js, minified and gzip',
    floor: 9,
    aim: 6,
    lessIsBetter: true,
    unit: 'kB',
    bound: 'a rule has up to three functions: to build, to match, to explain',
  },
  {
    id: 'size-aacp',
    title: 'generated/aacp.js, minified and gzip',
    floor: 9,
    aim: 6,
    lessIsBetter: true,
    unit: 'kB',
  },
  {
    id: 'session',
    title: 'session decode, against JSON.parse and zod',
    floor: 0.8,
    aim: 1,
    unit: 'x',
    bound:
      'parsing takes a tenth of the time, state with its checkpoints a third; the rest is spread over many small steps',
  },
  {
    id: 'session-encode',
    title: 'session encode, against zod and JSON.stringify',
    floor: 0.2,
    aim: 0.4,
    unit: 'x',
    bound:
      'counting tokens takes a tenth of the time, state with its checkpoints a fifth; the rest is spread over many small steps',
  },
  {
    id: 'session-sqlite',
    title: '32 sessions in a power-safe SQLite file, against one',
    floor: 5,
    aim: 10,
    unit: 'x',
    bound:
      'a group waits for the disk once; its statements take the rest of the time, so a disk that waits for 0.4 ms gives less than one that waits for 4 ms',
  },
  {
    id: 'compact-decode',
    title: 'time to decode compact frames, against plain ones',
    floor: 1.3,
    aim: 1,
    lessIsBetter: true,
    unit: 'x',
  },
  {
    id: 'compact-encode',
    title: 'time to encode compact frames, against plain ones',
    floor: 1.3,
    aim: 1,
    lessIsBetter: true,
    unit: 'x',
  },
  { id: 'counting', title: 'counting in session decode', floor: 50, aim: 25, lessIsBetter: true, unit: '%' },
  { id: 'long', title: 'the last 10,000 of 100,000 frames', floor: 1.2, aim: 1.05, lessIsBetter: true, unit: 'x' },
  { id: 'packet-encode', title: 'encoding packets, against a split-based port', floor: 1, aim: 3, unit: 'x' },
  { id: 'packet-validate', title: 'validating packets, against the same', floor: 1, aim: 1.2, unit: 'x' },
  { id: 'packet-explain', title: 'explaining packets, against the same', floor: 1, aim: 1.2, unit: 'x' },
  { id: 'repeat', title: 'registry hits at 100,000 entries, against one', floor: 0.7, aim: 0.9, unit: 'x' },
  { id: 'pattern', title: 'pattern hits at 100,000 entries, against one', floor: 0.7, aim: 0.9, unit: 'x' },
  { id: 'rpc-bare', title: 'JSON-RPC connection, against a bare loop', floor: 0.5, aim: 1, unit: 'x' },
  { id: 'rpc-official', title: 'the same, against the official ACP SDK', floor: 2, aim: 5, unit: 'x' },
  { id: 'acp-websocket', title: 'ACP over WebSocket, against one with bare JSON-RPC', floor: 0.8, aim: 1, unit: 'x' },
  { id: 'arcp-read', title: 'ARCP messages read and checked, against JSON.parse', floor: 0.3, aim: 0.4, unit: 'x' },
  { id: 'arcp-echo', title: 'durable echo jobs, against a bare loop', floor: 0.5, aim: 0.6, unit: 'x' },
  { id: 'arcp-http2', title: 'ARCP calls over HTTP/2, against a WebSocket', floor: 0.6, aim: 0.9, unit: 'x' },
  {
    id: 'arcp-nats',
    title: 'ARCP calls over NATS, against a WebSocket',
    floor: 0.4,
    aim: 0.7,
    unit: 'x',
    requires: 'a NATS server at 127.0.0.1:4222 or PEGWIRE_TEST_NATS',
  },
  { id: 'arcp-resume', title: 'growth at 100,000 missed messages', floor: 50, aim: 25, lessIsBetter: true, unit: 'MB' },
  {
    id: 'grammar-json',
    title: "Peggy's JSON grammar, against stock Peggy",
    floor: 3,
    aim: 6,
    unit: 'x',
    bound: 'its actions concatenate single characters, which any parser must do',
  },
  {
    id: 'grammar-css',
    title: "Peggy's CSS grammar, against stock Peggy",
    floor: 3,
    aim: 6,
    unit: 'x',
  },
];

/** Returns `true` if a figure reaches a mark. A figure that could not be measured does not. */
export function reaches({ lessIsBetter }: Goal, measured: number | undefined, mark: number): boolean {
  if (measured === undefined) return false;
  return lessIsBetter ? measured <= mark : measured >= mark;
}

/** Returns the better of two figures of the same goal. */
export function better({ lessIsBetter }: Goal, one: number | undefined, other: number): number {
  if (one === undefined) return other;
  return lessIsBetter ? Math.min(one, other) : Math.max(one, other);
}
