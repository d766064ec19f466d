/** Implements `pegwire encode accp`. */
import type { EncodeResult } from '../../../accp/codec/contract.js';
import { PegwireError } from '../../../text/errors.js';
import { storeFault } from '../../io/errors.js';
import { exactJson, notJson } from '../../io/exact-json.js';
import type { Line } from '../../io/input.js';
import { count, forEachLine, reject } from '../../io/report.js';
import type { Invocation } from '../../options/command.js';
import { type InputOptions, type ReadMessage, readMessage } from '../../session/message-input.js';
import { type OpenSession, openSession } from '../../session/open-session.js';
import { isOverHardLimit, noteResults } from '../../session/results.js';
import { AGENT, type ENCODE_OPTIONS } from './options.js';

type Run = Invocation<typeof ENCODE_OPTIONS>;

/** Encodes the messages of the input, one per line. @returns the exit code */
export async function encodeLines(invocation: Run): Promise<number> {
  const { options } = invocation;
  const reading = { refs: options.refs, keepEnvelope: options['keep-envelope'] };
  const open = await openSession(options, { agent: AGENT });
  const totals = { frames: 0, over: 0, tokens: 0, exact: false };
  try {
    const { lines, rejected, exitCode } = await forEachLine(invocation, 'message', async (line) => {
      const result = await encodeLine(invocation, line, reading, open);
      if (result === null) return false;
      totals.over += isOverHardLimit(result) ? 1 : 0;
      totals.frames += result.frames.length;
      totals.tokens += result.tokens.total;
      totals.exact = result.tokens.exact;
      return true;
    });
    const { frames, over, tokens, exact } = totals;
    if (lines > 0 && !invocation.json) {
      const about = exact ? '' : 'about ';
      const limits = over === 0 ? '' : `; ${over} over a hard limit of section 3.4 (see --json)`;
      await invocation.output.note(
        `${count(lines, 'message')}, ${rejected} rejected; ` +
          `${count(frames, 'frame')}, ${about}${count(tokens, 'token')}${limits}`,
      );
    }
    return exitCode;
  } catch (thrown) {
    throw storeFault(thrown);
  } finally {
    open.close();
  }
}

/** Encodes one message. @returns `null` if it is rejected, after reporting the error */
async function encodeLine(
  invocation: Run,
  line: Line,
  reading: InputOptions,
  { codec, session }: OpenSession,
): Promise<EncodeResult | null> {
  const { json, output } = invocation;
  let result: EncodeResult;
  let read: ReadMessage;
  try {
    read = readMessage(line.text, reading);
    result = codec.encode(read.message, session);
  } catch (thrown) {
    await reject(invocation, line, errorOf(thrown, line.text));
    return null;
  }
  const checkpoint = await result.checkpoint;
  const losses = [...read.losses, ...result.losses];
  const all = { ...result, losses, checkpoint };
  if (json) await output.result(exactJson({ line: line.number, ok: true, ...all }));
  else for (const frame of result.frames) await output.result(frame);
  await noteResults(invocation, line, all);
  return result;
}

function errorOf(thrown: unknown, text: string): PegwireError {
  if (thrown instanceof PegwireError) return thrown;
  if (!(thrown instanceof SyntaxError)) throw thrown;
  return notJson(
    thrown,
    text,
    'write one message per line, for example {"intent":"req","operation":"find","payload":{"query":"cats"}}',
  );
}
