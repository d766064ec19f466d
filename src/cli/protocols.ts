/** A protocol that arguments can name. The parsers are in `io/messages.ts`. */
export interface Protocol {
  readonly name: 'accp' | 'aacp';
  /** The noun for one message. */
  readonly message: string;
  readonly dialects: readonly string[];
}

export const PROTOCOLS: readonly Protocol[] = [
  { name: 'accp', message: 'frame', dialects: ['strict', 'lenient'] },
  { name: 'aacp', message: 'packet', dialects: ['strict', 'tolerant'] },
];
