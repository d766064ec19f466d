import { type Dialect, type Frame, tryParseFrame } from '../../accp/index.js';
import type { Message } from '../../accp/message/message.js';
import { type Rendered, renderForContext, renderJson } from '../../accp/render/index.js';
import { plainFrame } from '../../bench/plain.js';
import { percentChange } from '../../bench/table.js';
import { PegwireError } from '../../text/errors.js';
import { isRecord } from '../../text/guards.js';
import { compareTokens } from '../../tokens/compare.js';
import { loadTokenCounter } from '../../tokens/load-counter.js';
import { UsageError } from '../io/errors.js';
import { exactJson, notJson, parseExactJson } from '../io/exact-json.js';
import { type Line, readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { countedText, noteEmpty, reject } from '../io/report.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { choice, flag, integer, value } from '../options/option.js';

const OPTIONS = {
  tokens: flag('Print the tokens of the text, of compact JSON and of TOON in place of the text'),
  keys: choice('NAME', 'Spelling of the keys of messages: full (default) or short', ['full', 'short']),
  'max-length': value('N', 'Cut strings that are longer than this many UTF-16 code units', integer({ from: 0 })),
  'no-fence': flag('Do not fence the text'),
  data: flag('Render JSON messages as other JSON, without a header'),
  dialect: choice('NAME', 'Grammar dialect of frames: strict (default) or lenient', ['strict', 'lenient']),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: '[FILE|-]...' },
  options: OPTIONS,
  details: [
    'Each input has one frame or JSON document per line, or is one JSON document of several lines. JSON with agent, intent, operation and payload is a ' +
      'message; messages that follow each other share one fence. The lines of other JSON are one list, and a table if they are maps with like keys. ' +
      'Rejected lines are reported and left out.',
    'The text has neither envelopes nor escapes, and is data: no value in it can close the fence. Decode frames whose text is transliterated first, ' +
      'with pegwire decode.',
  ],
  example: [
    "echo '@planner>req:schedule{task:impl_auth|pri:high}' | pegwire render",
    'pegwire render --tokens orders.json',
    'pegwire decode accp frames.txt | pegwire render',
  ],
  run,
});

/** The content of one text. */
type Part = { readonly messages: Content[] } | { readonly data: unknown[] };

interface Content {
  readonly message: Message | Frame;
  /** The message as plain JSON, for the comparison. */
  readonly plain: object;
}

async function run(invocation: Run): Promise<number> {
  const { words, json, output, options } = invocation;
  const parts: Part[] = [];
  let rejected = 0;
  let lines = 0;
  for (const word of words.length === 0 ? ['-'] : words) {
    const read = await readParts({ ...invocation, file: word === '-' ? undefined : word }, parts);
    rejected += read.rejected;
    lines += read.lines;
  }
  if (lines === 0) await noteEmpty(invocation, 'frame or JSON document');
  const counter = await loadTokenCounter();
  const counts: Counts[] = [];
  for (const [index, part] of parts.entries()) {
    const { keys, 'max-length': maxLength, 'no-fence': noFence } = options;
    const style = { fence: !noFence, maxLength, counter };
    let rendered: Rendered;
    try {
      rendered =
        'messages' in part
          ? renderForContext(
              part.messages.map(({ message }) => message),
              { ...style, keys },
            )
          : renderJson(dataOf(part.data), style);
    } catch (thrown) {
      if (!(thrown instanceof PegwireError)) throw thrown;
      await reject(invocation, null, thrown);
      rejected++;
      continue;
    }
    const others = options.tokens ? await otherCounts(part) : undefined;
    if (others !== undefined) counts.push({ ...others, rendered: rendered.tokens });
    if (json) await output.result(toJson({ ok: true, ...rendered, ...others, encoding: counter.encoding }));
    else if (others === undefined) await output.result(index > 0 && noFence ? `\n${rendered.text}` : rendered.text);
  }
  if (!json && counts.length > 0) {
    for (const row of rowsOf(counts, counter.exact)) await output.result(row);
    await output.note(`${countedText(counter)} Envelopes are not counted.`);
  }
  return lines === 0 || rejected > 0 ? 1 : 0;
}

/** Reads one input, and adds its parts; its first messages follow those before it. Reports invalid lines. */
async function readParts(invocation: Run, parts: Part[]): Promise<{ lines: number; rejected: number }> {
  const lines: Line[] = [];
  for await (const line of readLines(invocation)) {
    if (line.isCut === true)
      throw new UsageError(
        `${invocation.file ?? 'stdin'}:${line.number}: The line is longer than 32 MiB; split it`,
        'unreadable',
      );
    lines.push(line);
  }
  let rejected = 0;
  let data: unknown[] | undefined;
  for (const line of documentsOf(lines)) {
    try {
      for (const item of itemsOf(line.text, invocation.options)) {
        const last = parts.at(-1);
        if ('message' in item) {
          data = undefined;
          if (last !== undefined && 'messages' in last) last.messages.push(item);
          else parts.push({ messages: [item] });
        } else if (data === undefined) {
          data = [item.data];
          parts.push({ data });
        } else data.push(item.data);
      }
    } catch (thrown) {
      if (!(thrown instanceof PegwireError)) throw thrown;
      await reject(invocation, line, thrown);
      rejected++;
    }
  }
  return { lines: lines.length, rejected };
}

/** Returns the lines, or all of them as one if the first is only the beginning of a JSON document. */
function documentsOf(lines: readonly Line[]): readonly Line[] {
  const [first] = lines;
  if (first === undefined || lines.length === 1 || first.text.startsWith('@') || isJson(first.text)) return lines;
  return [{ number: first.number, text: lines.map(({ text }) => text).join('\n') }];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @throws PegwireError if the text is neither a frame nor JSON */
function itemsOf(
  text: string,
  { data, dialect }: { readonly data: boolean; readonly dialect: Dialect },
): (Content | { readonly data: unknown })[] {
  if (text.startsWith('@')) {
    const result = tryParseFrame(text, { dialect });
    if (!result.ok) throw result.error;
    return [{ message: result.value, plain: plainFrame({ ...result.value, metadata: null }) as object }];
  }
  let read: unknown;
  try {
    read = parseExactJson(text).value;
  } catch (thrown) {
    throw thrown instanceof SyntaxError ? notJson(thrown, text, 'write a frame or JSON') : thrown;
  }
  const list = Array.isArray(read) && read.length > 0 ? (read as unknown[]) : [read];
  return !data && list.every(isMessage) ? list.map((message) => ({ message, plain: message })) : [{ data: read }];
}

const MEMBERS: ReadonlySet<string> = new Set(['agent', 'intent', 'operation', 'schema', 'payload', 'envelope']);

/** Any other member would be lost. */
function isMessage(read: unknown): read is Message {
  if (!isRecord(read) || !Object.keys(read).every((key) => MEMBERS.has(key))) return false;
  const { agent, intent, operation, schema = '', payload } = read;
  const names = [agent, intent, operation, schema];
  return names.every((name) => typeof name === 'string') && isRecord(payload) && !Array.isArray(payload);
}

function dataOf(documents: readonly unknown[]): unknown {
  return documents.length === 1 ? documents[0] : documents;
}

interface Counts {
  readonly json: number;
  /** `null` if the package is not installed. */
  readonly toon: number | null;
  readonly rendered: number;
}

/** Counts the same content as JSON and as TOON, message by message. */
async function otherCounts(part: Part): Promise<Omit<Counts, 'rendered'>> {
  const values = 'messages' in part ? part.messages.map(({ plain }) => plain) : [dataOf(part.data)];
  const all = await Promise.all(values.map(countsOf));
  return {
    json: all.reduce((sum, { json }) => sum + json, 0),
    toon: all.reduce<number | null>((sum, { toon }) => (sum === null || toon === null ? null : sum + toon), 0),
  };
}

async function countsOf(plain: unknown): Promise<Omit<Counts, 'rendered'>> {
  if (typeof plain !== 'object' || plain === null) {
    // A scalar is the same in TOON.
    const { count } = await loadTokenCounter();
    return { json: count(exactJson(plain)), toon: count(exactJson(plain)) };
  }
  const { counts } = await compareTokens({ message: plain });
  const of = (notation: string): number | null => counts.find((one) => one.notation === notation)?.body ?? null;
  return { json: of('json')!, toon: of('toon') };
}

function rowsOf(counts: readonly Counts[], exact: boolean): string[] {
  const sum = (form: keyof Counts): number => counts.reduce((total, one) => total + (one[form] ?? 0), 0);
  const json = sum('json');
  const row = (title: string, tokens: number): string => {
    const shown = title === 'compact JSON' ? '' : `  ${percentChange(tokens, json).padStart(6)}`;
    return `${title.padEnd(12)}  ${`${exact ? '' : '~'}${tokens}`.padStart(8)}${shown}`;
  };
  const toon = counts.some((one) => one.toon === null)
    ? 'TOON                 -  (npm install @toon-format/toon)'
    : row('TOON', sum('toon'));
  return [row('compact JSON', json), toon, row('rendered', sum('rendered'))];
}
