/**
 * The receiving end in a process of its own: `reader.ts SEQUENCE [TEXT]`. Reads frames from stdin, a line each, and prints what
 * has become of each, as JSON that keeps big integers.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { createCodec, createSession, type SequenceMode, type TextPolicy } from '../../../../src/accp/codec/index.js';
import { toText } from '../../../../src/accp/store/text.js';

const [sequence, text] = process.argv.slice(2);
const codec = createCodec({ text: text as TextPolicy | undefined, now: () => 1_714_000_000_000, state: false });
const session = createSession({ agent: 'b', id: 's', sequence: sequence as SequenceMode });
for await (const frame of createInterface({ input: process.stdin })) {
  const outcome = codec.decode(frame, session);
  const { code, message } = outcome.outcome === 'rejected' ? outcome.error : {};
  process.stdout.write(`${toText({ ...outcome, error: code && { code, message } })}\n`);
}
