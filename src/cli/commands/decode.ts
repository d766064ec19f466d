import { keyTable } from '../../accp/message/abbreviations.js';
import { sourceText } from '../../accp/message/read-value.js';
import { type Dialect, tryParseFrame } from '../../accp/parse.js';
import type { Span } from '../../text/span.js';
import { storeFault, unwritable } from '../io/errors.js';
import { exactJson } from '../io/exact-json.js';
import { openLines } from '../io/files.js';
import { type Line, readLines } from '../io/input.js';
import { errorJson } from '../io/json.js';
import { labelled, type NoteKind } from '../io/output.js';
import { count, noteEmpty, noteLine, reporting, reportText } from '../io/report.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, text } from '../options/option.js';
import { type OpenSession, openSession } from '../session/open-session.js';
import { sessionOptions } from '../session/options.js';
import { noteResults, repliesOf, StreamReaders } from '../session/results.js';

const AGENT = 'receiver';

const OPTIONS = {
  ...sessionOptions(AGENT, 'the sid of the first frame, or the last session of the file'),
  dialect: choice('NAME', 'Grammar dialect: strict (default) or lenient', ['strict', 'lenient']),
  replies: text(
    'FILE',
    'Write the frames that must be sent in reply (errors, negotiation, repeated frames) to this file, one per line (default: stderr)',
  ),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'messages',
  protocols: ['accp'],
  options: OPTIONS,
  details:
    'The input has one frame per line. Integers are printed with all of their digits. A chunk of a stream is printed when its frame ' +
    'arrives; chunk_index is its position. A message that is split into several frames is printed after the last one.',
  example: "echo '@planner>req:schedule{pri:high}[mid:m1,seq:1]' | pegwire decode accp",
  run: decode,
});

type Decoding = ReturnType<typeof begin>;

async function decode(invocation: Run): Promise<number> {
  const { dialect } = invocation.options;
  const replies = openReplies(invocation);
  let decoding: Decoding | undefined;
  try {
    for await (const { line, id } of withSessionId(invocation)) {
      const session =
        decoding?.open ?? (await openSession(invocation.options, { agent: AGENT, id, codec: { dialect } }));
      decoding ??= begin(invocation, replies, session);
      await decodeLine(line, decoding);
    }
    if (decoding !== undefined) return await end(decoding);
    await noteEmpty(invocation, invocation.protocol.message);
    return 1;
  } catch (thrown) {
    throw storeFault(thrown);
  } finally {
    decoding?.open.close();
    replies.close();
  }
}

function begin(invocation: Run, replies: ReturnType<typeof openReplies>, open: OpenSession) {
  return {
    invocation,
    open,
    replies,
    streams: new StreamReaders(open.session),
    counts: { message: 0, pending: 0, rejected: 0, dropped: 0 },
    /** Correlation identifiers of incomplete messages. */
    parts: new Set<string>(),
  };
}

/** The number of lines that wait until the session is known. */
const MAX_WAITING = 1000;

/** Yields all lines with the session identifier: that of the options, or else of the first valid frame. */
async function* withSessionId(invocation: Run): AsyncGenerator<{ line: Line; id: string | undefined }> {
  const { dialect, id: given } = invocation.options;
  let waiting: Line[] | null = given === undefined ? [] : null;
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
  if (json) {
    const checkpoint = 'checkpoint' in outcome ? await outcome.checkpoint : undefined;
    await output.result(exactJson({ line: line.number, ...outcome, checkpoint }));
  }
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
        await noteLine(invocation, line, `note[pending]: Part of message ${outcome.correlationId}; more parts follow`);
      } else {
        // Streams are read at once, so that the buffer of the session does not fill.
        streams.read(outcome.correlationId);
        if (!json) await output.result(exactJson(outcome.message));
      }
      await noteResults(invocation, line, outcome);
      break;
    case 'rejected': {
      if (json) break;
      const { code, message, help, path } = outcome.error;
      const span = outcome.error.span ?? placeOf(path, line.text, invocation.options.dialect);
      await output.note(`${reportText({ code, message, help, span }, 'error', line, reporting(invocation))}\n`);
      break;
    }
    case 'dropped':
      await noteLine(invocation, line, 'warning[expired]: Dropped without a reply: the frame has expired');
      break;
  }
  for (const reply of repliesOf(outcome)) await replies.add(line, reply);
}

async function end({ invocation, open, streams, counts, parts }: Decoding): Promise<number> {
  const { json, output } = invocation;
  const { failed, unfinished } = await streams.end();
  const isIncomplete = parts.size + unfinished.length > 0;
  const isError = !open.isStored;
  const more = isError ? '' : '; the rest may follow';
  const note = (kind: NoteKind, code: string, text: string): Promise<void> =>
    output.note(json ? errorJson(code, text) : labelled(kind, code, text, output.paintNote));
  for (const { cid, error } of failed) await note('error', error.code, `Stream ${cid} failed: ${error.message}`);
  const kind = isError ? 'error' : 'warning';
  for (const cid of unfinished) await note(kind, 'unfinished', `Stream ${cid} has not ended${more}.`);
  for (const cid of parts) await note(kind, 'unfinished', `Message ${cid} is incomplete${more}.`);
  if (!json) {
    const { message, pending, rejected, dropped } = counts;
    const frames = message + pending + rejected + dropped;
    await output.note(
      `${count(frames, 'frame')}: ${count(message, 'message')}, ${pending} pending, ${rejected} rejected, ${dropped} dropped`,
    );
  }
  return counts.rejected > 0 || failed.length > 0 || (isError && isIncomplete) ? 1 : 0;
}

/** Opens the file for replies. Frames that it cannot take go to stderr, since the session does not send them again. @throws UsageError if the file cannot be written */
function openReplies(invocation: Run) {
  const { replies: file } = invocation.options;
  const show = (line: Line, frame: string): Promise<void> => noteLine(invocation, line, `reply: ${frame}`);
  if (file === undefined) return { add: show, close: () => {} };
  let fault: unknown;
  const lines = openLines(
    file,
    'w',
    (_, thrown) => {
      fault = unwritable(thrown, file);
    },
    0o666,
  );
  return {
    add: async (line: Line, frame: string) => {
      if (!lines.write(frame)) await show(line, frame);
    },
    close: () => {
      lines.close();
      if (fault !== undefined) throw fault;
    },
  };
}

/** Finds the parameter of a path such as `metadata.seq`, but no values inside it. */
function placeOf(path: string | undefined, text: string, dialect: Dialect): Span | null {
  const [, block, key] = /^(metadata|payload)\.([A-Za-z0-9_]+)/.exec(path ?? '') ?? [];
  if (key === undefined) return null;
  const parsed = tryParseFrame(text, { dialect, spans: true });
  if (!parsed.ok) return null;
  const { payload, metadata } = parsed.value;
  const params = block === 'payload' ? payload : (metadata ?? []);
  const schema = params.find((param) => param.key === 'schema')?.value;
  const table = keyTable(schema?.kind === 'string' ? schema.value : undefined);
  const param = params.find((one) => one.key === key) ?? params.find((one) => table.expand(one.key) === key);
  return param?.span ?? null;
}
