/** The work of `pegwire decode`. */
import type { DecodeOutcome } from '../accp/codec/outcome.js';
import { type Dialect, tryParseFrame } from '../accp/parse.js';
import { sourceText } from '../accp/session/envelope.js';
import { exactJson } from './io/exact-json.js';
import { type Line, readLines } from './io/input.js';
import { errorJson } from './io/json.js';
import { reporting, reportText, tellEmpty } from './io/report.js';
import type { Invocation } from './options/command.js';
import { placeOf } from './place-of.js';
import { openReplies, type Replies, repliesOf } from './replies.js';
import { count, noteLine, noteResults } from './session/notes.js';
import { type OpenSession, openSession, storeFault } from './session/open-session.js';
import { StreamReaders } from './session/stream-readers.js';

/** What the work needs. */
interface Decoding {
  readonly invocation: Invocation;
  readonly dialect: Dialect;
  readonly open: OpenSession;
  readonly replies: Replies;
  readonly streams: StreamReaders;
  readonly counts: { message: number; pending: number; rejected: number; dropped: number };
  /** Messages that came in part, by their correlation identifiers. */
  readonly parts: Set<string>;
}

/** @returns the exit code: 1 when a frame was refused, or when there was none, or not all of a message or stream */
export async function decodeLines(invocation: Invocation, dialect: Dialect, agent: string): Promise<number> {
  const replies = openReplies(invocation);
  let decoding: Decoding | undefined;
  try {
    for await (const { line, id } of withSessionId(invocation, dialect)) {
      decoding ??= begin(
        { invocation, dialect, replies },
        await openSession(invocation, { agent, id, codec: { dialect } }),
      );
      await decodeLine(line, decoding);
    }
    if (decoding !== undefined) return await end(decoding);
    await tellEmpty(invocation);
    return 1;
  } catch (thrown) {
    throw storeFault(thrown);
  } finally {
    decoding?.open.close();
    replies.close();
  }
}

function begin(given: Pick<Decoding, 'invocation' | 'dialect' | 'replies'>, open: OpenSession): Decoding {
  const counts = { message: 0, pending: 0, rejected: 0, dropped: 0 };
  return { ...given, open, counts, streams: new StreamReaders(open.session), parts: new Set() };
}

/** Lines that are read before it is known which session they belong to. */
const MAX_WAITING = 1000;

/** All lines, with the session that the first readable frame names; none where it names none, or the options do. */
async function* withSessionId(
  invocation: Invocation,
  dialect: Dialect,
): AsyncGenerator<{ readonly line: Line; readonly id: string | undefined }> {
  let waiting: Line[] | null = invocation.options['id'] === undefined ? [] : null;
  let id: string | undefined;
  for await (const line of readLines(invocation)) {
    if (waiting === null) {
      yield { line, id };
      continue;
    }
    waiting.push(line);
    const parsed = tryParseFrame(line.text, { dialect });
    if (!parsed.ok && waiting.length < MAX_WAITING) continue;
    const sid = parsed.ok ? parsed.value.metadata?.find(({ key }) => key === 'sid')?.value : undefined;
    id = sid === undefined ? undefined : sourceText(sid);
    for (const one of waiting) yield { line: one, id };
    waiting = null;
  }
  for (const line of waiting ?? []) yield { line, id };
}

async function decodeLine(line: Line, decoding: Decoding): Promise<void> {
  const { invocation, open, counts, parts, streams, replies } = decoding;
  const { json, output } = invocation;
  const outcome = open.codec.decode(line.text, open.session);
  counts[outcome.outcome]++;
  if (json) await output.result(exactJson({ line: line.number, ...outcome, ...(await checkpointOf(outcome)) }));
  switch (outcome.outcome) {
    case 'message': {
      const { msg_id: mid, correlation_id: cid = mid } = outcome.message.envelope;
      parts.delete(cid);
      if (!json) await output.result(exactJson(outcome.message));
      await noteResults(invocation, line, outcome);
      break;
    }
    case 'pending':
      if (outcome.part === 'sequence') {
        parts.add(outcome.correlationId);
        await noteLine(invocation, line, `part of the message ${outcome.correlationId}; the rest is to come`);
      } else {
        // Its place in the stream stands in it; the session's own buffer must not fill up with it.
        streams.read(outcome.correlationId);
        if (!json) await output.result(exactJson(outcome.message));
      }
      await noteResults(invocation, line, outcome);
      break;
    case 'rejected':
      await tellRejected(line, outcome, decoding);
      break;
    case 'dropped':
      await noteLine(invocation, line, 'dropped, and nothing is to be answered: the frame has expired');
      break;
  }
  for (const reply of repliesOf(outcome)) await replies.add(line, reply);
}

async function checkpointOf(outcome: DecodeOutcome): Promise<object> {
  if (outcome.outcome !== 'message' || outcome.checkpoint === undefined) return {};
  return { checkpoint: await outcome.checkpoint };
}

async function tellRejected(
  line: Line,
  { error }: DecodeOutcome & { readonly outcome: 'rejected' },
  { invocation, dialect }: Decoding,
): Promise<void> {
  const { json, output } = invocation;
  if (json) return;
  const { code, message, help } = error;
  const span = error.span ?? placeOf(error.path, line.text, dialect);
  await output.note(`${reportText({ code, message, help, span }, 'error', line, reporting(invocation))}\n`);
}

/** What the end of the input leaves open, and the exit code. */
async function end({ invocation, open, streams, counts, parts }: Decoding): Promise<number> {
  const { json, output } = invocation;
  const { failed, unfinished } = await streams.end();
  const rest = open.isKept ? '; the rest may follow' : '';
  const said = [
    ...failed.map(({ cid, error }) => `The stream ${cid} has failed: ${error.message}`),
    ...unfinished.map((cid) => `The stream ${cid} has not ended${rest}.`),
    ...[...parts].map((cid) => `The message ${cid} has not come whole${rest}.`),
  ];
  if (!json) {
    const { message, pending, rejected, dropped } = counts;
    const frames = message + pending + rejected + dropped;
    said.push(
      `${count(frames, 'frame')}: ${count(message, 'message')}, ${pending} pending, ${rejected} rejected, ${dropped} dropped`,
    );
  }
  for (const text of said) await output.note(json ? errorJson('unfinished', text) : text);
  const isCut = !open.isKept && parts.size + unfinished.length > 0;
  return counts.rejected > 0 || failed.length > 0 || isCut ? 1 : 0;
}
