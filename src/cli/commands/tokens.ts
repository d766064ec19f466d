import { fromObject } from '../../aacp/build/index.js';
import { printPacket, tryParsePacket } from '../../aacp/index.js';
import { createCodec } from '../../accp/codec/codec.js';
import { type Dialect, tryParseFrame } from '../../accp/index.js';
import { createSession } from '../../accp/session/session.js';
import { plainFrame, plainPacket } from '../../bench/plain.js';
import { PegwireError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import { type ComparisonInput, compareTokens, type Notation } from '../../tokens/compare.js';
import { ENCODINGS, type Encoding } from '../../tokens/counter.js';
import { countTokens } from '../../tokens/load-counter.js';
import { notExact, UsageError } from '../io/errors.js';
import { inputName, type Line, readLines } from '../io/input.js';
import { toJson } from '../io/json.js';
import { countedText, noteEmpty } from '../io/report.js';
import { defineCommand } from '../options/command.js';
import { choice } from '../options/option.js';
import { readMessage } from '../session/message-input.js';
import { ENCODING_HELP } from '../session/options.js';

export const command = defineCommand({
  takes: 'file',
  options: {
    encoding: choice('NAME', ENCODING_HELP, ENCODINGS),
    dialect: choice('NAME', 'Grammar dialect of frames: strict (default) or lenient', ['strict', 'lenient']),
  },
  details:
    'The input has one frame, packet, JSON document or English sentence per line. A JSON message with intent, operation and payload is ' +
    'also counted as a frame, with and without metadata; JSON with task and domain also as a packet. The member "english" of a JSON ' +
    'message is the same content in English, and is counted separately. Without the package gpt-tokenizer, counts are estimates; the ' +
    'exit code is then 2 if --encoding is given.',
  example: "echo '@planner>req:schedule{task:impl_auth|pri:high}[mid:m1,seq:1]' | pegwire tokens",
  run: async (invocation) => {
    const { output, json, given } = invocation;
    const { encoding, dialect } = invocation.options;
    const isNarrow = output.width !== undefined && output.width < HEADER.length;
    let lines = 0;
    const totals = Object.fromEntries(COLUMNS.map((column) => [column, null])) as Counts;
    totals.tokens = 0;
    let toonMissing = false;
    let exact = true;
    for await (const line of readLines(invocation)) {
      if (line.isCut === true)
        throw new UsageError(
          `${inputName(invocation)}:${line.number}: The line is longer than 32 MiB; split it`,
          'unreadable',
        );
      const row = await tokenRow(line.text, encoding, dialect);
      const { kind, exact: isExact, toonMissing: isToonMissing, ...counts } = row;
      if (json) await output.result(toJson({ line: line.number, kind, ...counts, encoding, exact: isExact }));
      else {
        if (lines === 0 && !isNarrow) await output.result(output.paint('bold', HEADER));
        await output.result(isNarrow ? listText(line, row) : rowText(line, row));
      }
      lines++;
      for (const column of COLUMNS) if (row[column] !== null) totals[column] = (totals[column] ?? 0) + row[column];
      exact &&= isExact;
      toonMissing ||= isToonMissing;
    }
    if (lines === 0) {
      await noteEmpty(invocation, 'text');
      return 1;
    }
    if (json) await output.result(toJson({ total: { lines, ...totals }, encoding, exact }));
    else {
      const total = isNarrow
        ? `total:\n${listed(totals, exact)}`
        : `${'total'.padStart(6)}  ${' '.repeat(7)}  ${cells(totals, exact)}`;
      if (lines > 1) await output.result(output.paint('bold', total));
      await output.note(sourceText({ exact, toonMissing }, encoding));
    }
    // An estimate does not replace the encoding of --encoding.
    if (!exact && given['encoding'] !== undefined) throw notExact(encoding);
    return 0;
  },
});

/** The titles of the columns. */
const TITLES = {
  tokens: 'tokens',
  body: 'no metadata',
  jsonPretty: 'JSON pretty',
  json: 'JSON',
  toon: 'TOON',
  accp: 'ACCP',
  accpEnvelope: 'ACCP with envelope',
  aacp: 'AACP',
  english: 'English',
};

type Column = keyof typeof TITLES;

const COLUMNS = Object.keys(TITLES) as Column[];

/** The counts of a line, or totals; `null` if the line has no such form. */
type Counts = Record<Column, number | null>;

const SHOWN = 48;

const HEADER = `${'line'.padStart(6)}  ${'kind'.padEnd(7)}  ${Object.values(TITLES).join('  ')}  text`;

function rowText({ number, text }: Line, row: TokenRow): string {
  const shown = visible(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
  return `${String(number).padStart(6)}  ${row.kind.padEnd(7)}  ${cells(row, row.exact)}  ${shown}`;
}

/** Formats a line for a narrow terminal. */
function listText({ number, text }: Line, row: TokenRow): string {
  const shown = visible(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
  return `line ${number}, ${row.kind}: ${shown}\n${listed(row, row.exact)}`;
}

function listed(counts: Counts, exact: boolean): string {
  const own = COLUMNS.filter((column) => counts[column] !== null);
  return own.map((column) => `  ${TITLES[column]}: ${exact ? '' : '~'}${counts[column]}`).join('\n');
}

/** Formats counts; a tilde marks an estimate, a dash a form that the line does not have. */
function cells(counts: Counts, exact: boolean): string {
  return COLUMNS.map((column) => {
    const count = counts[column];
    const text = count === null ? '-' : `${exact ? '' : '~'}${count}`;
    return text.padStart(TITLES[column].length);
  }).join('  ');
}

function sourceText({ exact, toonMissing }: Pick<TokenRow, 'exact' | 'toonMissing'>, encoding: string): string {
  return `${countedText({ exact, encoding }, toonMissing)} JSON and TOON contain the message without its metadata. A dash means that the line has no such form.`;
}

type Kind = 'frame' | 'packet' | 'json' | 'english';

interface TokenRow extends Counts {
  readonly kind: Kind;
  readonly tokens: number;
  readonly exact: boolean;
  readonly toonMissing: boolean;
}

/** Counts a line and its other forms. Invalid messages are counted, too. */
async function tokenRow(text: string, encoding: Encoding, dialect: Dialect): Promise<TokenRow> {
  const kind = kindOf(text);
  const input = READERS[kind](text, dialect);
  const counted = (form: string | undefined): Promise<number | null> =>
    form === undefined ? Promise.resolve(null) : countTokens(form, encoding).then(({ tokens }) => tokens);
  const [{ tokens }, { counts, skipped, exact }, accp, accpEnvelope, aacp, english] = await Promise.all([
    countTokens(text, encoding),
    compareTokens(
      kind === 'frame' ? { message: input.message, frameBody: input.frameBody } : { message: input.message },
      {
        encoding,
      },
    ),
    counted(input.frameBody),
    counted(input.frame),
    counted(input.packet),
    counted(input.english),
  ]);
  const bodyOf = (form: Notation): number | null => counts.find((one) => one.notation === form)?.body ?? null;
  return {
    kind,
    tokens,
    body: bodyOf('accp') ?? (bodyOf('json') === null ? null : tokens),
    jsonPretty: bodyOf('json-pretty'),
    json: bodyOf('json'),
    toon: bodyOf('toon'),
    accp,
    accpEnvelope,
    aacp,
    english,
    exact,
    toonMissing: skipped.length > 0,
  };
}

function kindOf(text: string): Kind {
  if (/^@[^\s>]*>/.test(text)) return 'frame';
  if (/^[A-Za-z]+\|[A-Za-z]*\|/.test(text)) return 'packet';
  return /^\s*[{[]/.test(text) && documentOf(text) !== null ? 'json' : 'english';
}

const READERS: Readonly<Record<Kind, (text: string, dialect: Dialect) => ComparisonInput>> = {
  frame(text, dialect) {
    const result = tryParseFrame(text, { dialect });
    if (!result.ok) return {};
    const { metadata } = result.value;
    return {
      message: plainFrame({ ...result.value, metadata: null }) as object,
      frameBody: metadata === null ? text : withoutMetadata(text),
      frame: metadata === null ? undefined : text,
    };
  },
  packet(text) {
    const result = tryParsePacket(text, { dialect: 'tolerant' });
    return result.ok ? { message: plainPacket(result.value) as object, packet: text } : {};
  },
  json(text) {
    const document = documentOf(text);
    if (document === null) return {};
    const { english, ...message } = document as { readonly english?: unknown };
    if (Array.isArray(document) || typeof english !== 'string') return { message: document, ...encoded(document) };
    return { message, english, ...encoded(message) };
  },
  english: (text) => ({ english: text }),
};

/** A fixed envelope, so that counts are reproducible. */
const ENVELOPE = { msg_id: 'c40861273305', timestamp: 1_714_000_000 };

/** Encodes a JSON message as a frame or packet, depending on its members; empty if it is neither or cannot be encoded. */
function encoded(message: object): Pick<ComparisonInput, 'frame' | 'frameBody' | 'packet'> {
  try {
    if ('intent' in message && 'operation' in message) return asFrames(message);
    if ('task' in message && 'domain' in message) {
      const { fields, ...others } = message as { readonly fields?: unknown };
      const flat = typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? fields : { fields };
      return { packet: printPacket(fromObject({ ...others, ...flat })) };
    }
    return {};
  } catch (thrown) {
    if (thrown instanceof PegwireError) return {};
    throw thrown;
  }
}

function asFrames(message: object): Pick<ComparisonInput, 'frame' | 'frameBody'> {
  const read = readMessage(JSON.stringify(message), { refs: false, keepEnvelope: false }).message;
  if (typeof read === 'string') return {};
  const session = createSession({ agent: read.agent ?? 'sender' });
  const { frames } = createCodec({ text: 'transliterate', state: false }).encode(
    { ...read, envelope: { ...ENVELOPE, ...read.envelope } },
    session,
  );
  session.close();
  // The transport identifies the session.
  const whole = frames.map((frame) => frame.replace(/,sid:[^,\]]*/, ''));
  return { frame: whole.join('\n'), frameBody: frames.map(withoutMetadata).join('\n') };
}

/** Removes the metadata; `}[` occurs only before it. */
function withoutMetadata(frame: string): string {
  return frame.slice(0, frame.lastIndexOf('}[') + 1);
}

function documentOf(text: string): object | null {
  try {
    return JSON.parse(text) as object;
  } catch {
    return null;
  }
}
