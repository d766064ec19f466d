/** Messages as the page shows them: their language, their subject, their identifiers, and errors. */
import { explainPacket } from '../../aacp/explain.js';
import { validatePacket } from '../../aacp/validate.js';
import type { Frame, Param } from '../../accp/ast.js';
import { explainFrame } from '../../accp/explain.js';
import { tryParseFrame } from '../../accp/parse.js';
import { type Summary, summaryOf, type Tone } from '../../arcp/logs/summary.js';
import type { Envelope } from '../../arcp/protocol/envelope.js';
import { visible } from '../../text/visible.js';
import type { FeedRecord } from '../feed.js';

/** The language of a text; `text` for anything else. */
export type Language = 'arcp' | 'accp' | 'aacp' | 'jsonrpc' | 'json' | 'text';

/** An error in a message, with a caret frame if there is a place. */
export interface MessageError {
  readonly code: string;
  readonly message: string;
  readonly frame?: string | undefined;
  readonly help?: string | undefined;
}

/** A message that was read. */
export type Content =
  | { readonly language: 'arcp'; readonly value: Members }
  | { readonly language: 'jsonrpc' | 'json'; readonly value: unknown }
  | { readonly language: 'accp'; readonly frame: Frame | undefined; readonly error?: MessageError | undefined }
  | {
      readonly language: 'aacp';
      readonly packet: ReturnType<typeof validatePacket>['packet'];
      readonly error?: MessageError | undefined;
      readonly warnings: readonly string[];
    }
  | { readonly language: 'text'; readonly error?: MessageError | undefined };

export type Members = Readonly<Record<string, unknown>>;

/** One row of the timeline. The content is read again when the message is opened, so that 100,000 messages fit into memory. */
export interface Message {
  readonly record: FeedRecord;
  readonly language: Language;
  /** `job.progress`, `req:plan`, `FETCH HR`, `session/prompt`. */
  readonly type: string;
  readonly what: string;
  readonly tone: Tone;
  /** The identifiers in the message, by name. */
  readonly ids: Readonly<Record<string, string>>;
  readonly error: MessageError | undefined;
}

/** Longer texts are neither parsed nor searched for their structure, in UTF-16 code units. */
export const MAX_PARSED = 2 ** 20;

/** Reads a text. Never throws. */
export function readContent(text: string): Content {
  if (text.length > MAX_PARSED)
    return { language: 'text', error: { code: 'too-long', message: 'The text is too long to be parsed.' } };
  if (/^\s*[{[]/.test(text)) return readJson(text);
  const line = text.trim();
  if (line.startsWith('@')) return readFrame(line);
  if (/^[A-Z][A-Z_]*\|/.test(line)) {
    const { packet, errors, warnings } = validatePacket(line);
    const [first] = errors;
    return {
      language: 'aacp',
      packet,
      warnings: warnings.map(({ message }) => message),
      error: first && { code: first.code, message: first.message },
    };
  }
  return { language: 'text' };
}

function readJson(text: string): Content {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { language: 'text', error: { code: 'invalid-json', message: (thrown as Error).message } };
  }
  const first = Array.isArray(value) ? (value[0] as unknown) : value;
  if (isMembers(first) && first['jsonrpc'] !== undefined) return { language: 'jsonrpc', value };
  return isMembers(value) && value['arcp'] !== undefined ? { language: 'arcp', value } : { language: 'json', value };
}

function readFrame(text: string): Content {
  const strict = tryParseFrame(text);
  if (strict.ok) return { language: 'accp', frame: strict.value };
  const { code, message } = strict.error;
  // The message and the help are shown beside the caret frame, where they wrap.
  const frame = strict.error
    .format()
    .split('\n')
    .slice(1)
    .filter((line) => !line.startsWith('help: '))
    .join('\n');
  const error = { code, message, frame, help: strict.error.help };
  const lenient = tryParseFrame(text, { dialect: 'lenient' });
  return { language: 'accp', frame: lenient.ok ? lenient.value : undefined, error };
}

/** Returns the row of a record. Never throws. */
export function rowOf(record: FeedRecord): Message {
  if (record.kind !== undefined) {
    const type = record.kind === 'note' ? 'note' : `connection ${record.kind}`;
    const tone = record.kind === 'note' ? 'warning' : 'detail';
    return { record, language: 'text', type, what: record.text, tone, ids: {}, error: undefined };
  }
  if (record.length !== undefined) {
    const what = `the first ${record.text.length} of ${record.length} characters: ${start(record.text)}`;
    return { record, language: 'text', type: 'cut', what, tone: 'warning', ids: {}, error: undefined };
  }
  try {
    const content = readContent(record.text);
    return { record, ...described(content, record) };
  } catch (thrown) {
    // Such as the nesting of a hostile text.
    const error = { code: 'unreadable', message: String(thrown) };
    return { record, language: 'text', type: 'text', what: start(record.text), tone: 'failure', ids: {}, error };
  }
}

type Described = Omit<Message, 'record'>;

function described(content: Content, { text, verdict }: FeedRecord): Described {
  switch (content.language) {
    case 'arcp':
      return arcpRow(content.value, verdict);
    case 'accp':
      return frameRow(content, text);
    case 'aacp': {
      const { packet, error } = content;
      const task = packet === null ? 'packet' : `${packet.task} ${packet.domain}`;
      const ids = packet === null ? {} : idsOf({ return: packet.fields.find(({ key }) => key === 'return')?.value });
      const tone = error === undefined ? 'call' : 'failure';
      return {
        language: 'aacp',
        type: task,
        what: error?.message ?? start(text.replace(/^[^|]*\|[^|]*\|/, '')),
        tone,
        ids,
        error,
      };
    }
    case 'jsonrpc':
      return rpcRow(content.value);
    case 'json': {
      const { collection } = members(content.value);
      const type = typeof collection === 'string' ? `stored ${collection.slice(0, 80)}` : 'json';
      return { language: 'json', type, what: start(text), tone: 'detail', ids: {}, error: undefined };
    }
    default: {
      const { error } = content;
      return { language: 'text', type: 'text', what: start(text), tone: error ? 'failure' : 'detail', ids: {}, error };
    }
  }
}

function arcpRow(value: Members, verdict: FeedRecord['verdict']): Described {
  const type = String(value['type'] ?? 'message').slice(0, 100);
  const { id, session_id, job_id, stream_id, correlation_id, causation_id, trace_id } = value;
  const ids = idsOf({ id, correlation_id, causation_id, job_id, stream_id, session_id, trace_id });
  if (verdict !== undefined)
    return { language: 'arcp', type, what: verdict.message, tone: 'failure', ids, error: verdict };
  const [tone, what, more = ''] =
    summaryOf(value as unknown as Envelope) ?? otherSummary(type, members(value['payload']));
  return { language: 'arcp', type, what: start(`${what} ${more}`.trim()), tone, ids, error: undefined };
}

/** Summarises the messages that maintain sessions, which lists on the command line leave out. */
function otherSummary(type: string, payload: Members): Summary {
  const tone = type.endsWith('.grant') ? 'success' : type.endsWith('.deny') ? 'warning' : 'detail';
  const named = payload['permission'] ?? payload['reason'] ?? payload['session_id'] ?? '';
  return [tone, type.replace(/[._]/g, ' '), typeof named === 'string' ? named : ''];
}

const INTENT_TONES: Readonly<Record<string, Tone>> = {
  done: 'success',
  fail: 'failure',
  req: 'call',
  qry: 'call',
  warn: 'warning',
};

function frameRow({ frame, error }: Extract<Content, { language: 'accp' }>, text: string): Described {
  if (frame === undefined)
    return { language: 'accp', type: 'frame', what: error?.message ?? start(text), tone: 'failure', ids: {}, error };
  const { agent, intent, operation, metadata } = frame;
  const ids: Record<string, unknown> = { agent };
  for (const { key, value } of metadata ?? [])
    if (key === 'mid' || key === 'cid' || key === 'aid' || key === 'sid')
      ids[key] =
        value.kind === 'string' ? value.value : 'text' in value ? value.text : (value as { value: unknown }).value;
  const from = text.indexOf('{');
  const what = `${agent} ${start(from < 0 ? '' : text.slice(from))}`;
  const tone = error === undefined ? (INTENT_TONES[intent] ?? 'detail') : 'failure';
  return { language: 'accp', type: `${intent}:${operation}`, what, tone, ids: idsOf(ids), error };
}

function rpcRow(value: unknown): Described {
  if (Array.isArray(value)) {
    const what = value.slice(0, 5).map((one) => rpcRow(one).type);
    return {
      language: 'jsonrpc',
      type: `batch of ${value.length}`,
      what: what.join(', '),
      tone: 'detail',
      ids: {},
      error: undefined,
    };
  }
  const { method, id, params, result, error } = members(value);
  const ids = idsOf({ id, session: members(params)['sessionId'] ?? members(result)['sessionId'] });
  if (typeof method === 'string')
    return {
      language: 'jsonrpc',
      type: method.slice(0, 100),
      what: brief(params),
      tone: id === undefined ? 'detail' : 'call',
      ids,
      error: undefined,
    };
  if (error === undefined)
    return { language: 'jsonrpc', type: 'result', what: brief(result), tone: 'success', ids, error: undefined };
  const { code, message } = members(error);
  const fault = { code: String(code), message: String(message) };
  return {
    language: 'jsonrpc',
    type: 'error',
    what: `${fault.code}: ${fault.message}`,
    tone: 'failure',
    ids,
    error: fault,
  };
}

/** Returns what a message means, in plain English. */
export function explain({ record, language, type, what, ids }: Message, content: Content): string {
  const from = record.side === 'client' ? 'The client' : record.side === 'server' ? 'The server' : 'This message';
  if (record.kind !== undefined) return `${type}: ${record.text || 'no reason was given'}`;
  if (content.language === 'accp' && content.frame !== undefined) return explainFrame(content.frame);
  if (content.language === 'aacp' && content.packet !== null) return explainPacket(content.packet);
  if (language === 'arcp') {
    const about = ids['job_id'] === undefined ? '' : ` about job ${ids['job_id']}`;
    const answers = ids['correlation_id'] === undefined ? '' : ` It answers message ${ids['correlation_id']}.`;
    return `${from} sends ${type}${about}: ${what}.${answers}`;
  }
  if (content.language === 'jsonrpc') return explainRpc(from, content.value);
  return 'This text is not a message of a known protocol.';
}

function explainRpc(from: string, value: unknown): string {
  if (Array.isArray(value)) return `${from} sends ${value.length} JSON-RPC messages in one batch.`;
  const { method, id, error } = members(value);
  if (typeof method === 'string')
    return id === undefined
      ? `${from} notifies the other side of ${method}; it expects no response.`
      : `${from} calls ${method} and expects a response with the id ${JSON.stringify(id)}.`;
  return error === undefined
    ? `${from} returns the result of the call with the id ${JSON.stringify(id)}.`
    : `${from} reports that the call with the id ${JSON.stringify(id)} failed.`;
}

/** Returns the parameter of a frame by its key. */
export function paramOf(params: readonly Param[] | null, key: string): Param['value'] | undefined {
  return params?.find((param) => param.key === key)?.value;
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an object as it is, and an empty one for anything else. */
export function members(value: unknown): Members {
  return isMembers(value) ? value : {};
}

const MAX_SHOWN = 200;

/** Returns the beginning of a text, with invisible characters shown. */
export function start(text: string, length = MAX_SHOWN): string {
  return visible(text.length > length ? `${text.slice(0, length)}…` : text);
}

function brief(value: unknown): string {
  return value === undefined ? '' : start(JSON.stringify(value));
}

function idsOf(given: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [name, value] of Object.entries(given))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
      ids[name] = String(value).slice(0, 256);
  return ids;
}
