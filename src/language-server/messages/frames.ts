/** Frames of ACCP in an editor. */

import { ERROR_CODES } from '../../accp/errors.js';
import { explainFrame, printFrame, tryParseFrame } from '../../accp/index.js';
import { type FramePlace, type FrameToken, readFrameTokens, writtenValue } from '../../accp/language/tokens.js';
import { keyTable } from '../../accp/message/abbreviations.js';
import type { SchemaDefinition } from '../../accp/message/json.js';
import { CORE_OPERATIONS } from '../../accp/registry/definition.js';
import type { Registry } from '../../accp/registry/registry.js';
import { ABBREVIATIONS, ENVELOPE, INTENTS } from '../../accp/vocabulary.js';
import { meaning } from '../../text/ascii.js';
import { digitsOf } from '../../text/decimal.js';
import { PrintError } from '../../text/errors.js';
import { asCode, asText, type CompletionWord, type Outline, type TokenType, wordAt } from '../language.js';
import { checkFrame } from './frame-checks.js';
import { frameFixes } from './frame-fixes.js';
import type { MessageLanguage, MessageSettings } from './message-language.js';

const DRAFT = 'draft-benzing-accp-00';

/** Intents that transports add (section 11.2). */
const TRANSPORT_INTENTS = ['ping', 'pong'];

const TIERS: Readonly<Record<string, string>> = {
  hot: 'hot state: the current frames and the parameters of the task',
  warm: 'warm state: summaries of completed phases',
  cold: 'cold state: the external store',
};

export const frames: MessageLanguage = {
  check: checkFrame,
  fixes: frameFixes,

  format: (text, { dialect }) => {
    const result = tryParseFrame(text, { dialect });
    if (!result.ok) return null;
    try {
      return printFrame(result.value);
    } catch (thrown) {
      if (thrown instanceof PrintError) return null;
      throw thrown;
    }
  },

  colors: (text) =>
    readFrameTokens(text).tokens.flatMap(({ role, start, end, part }) => {
      if (role === 'key' && part === 'metadata') return [{ start, end, type: 'parameter' }];
      const type = COLORS[role];
      return type === undefined ? [] : [{ start, end, type }];
    }),

  hover: (text, offset, settings, written) => {
    const { tokens } = readFrameTokens(text);
    // Between two tokens, the word rather than the punctuation.
    const near = tokens.filter(({ start, end }) => start <= offset && offset <= end);
    const token = near.findLast(({ role }) => role !== 'punctuation') ?? near[0];
    if (token === undefined) return null;
    const about = describe({ ...token, text: written(token.text) }, text, tokens, settings);
    const whole = asText(written(explainFrame(text)));
    return { span: token, text: about === null ? whole : `${about}\n\n---\n\n${whole}` };
  },

  complete: (text, offset, settings, seen) => {
    const { tokens, place } = readFrameTokens(text.slice(0, offset));
    if (place.part === 'end' || tokens.at(-1)?.role === 'escape') return null;
    const span = wordAt(text, offset, place.part === 'agent' ? /[\w@-]/ : /[\w.$]/);
    const schema = schemaOf(text, settings.registry);
    const words = WORDS[place.part]({ place, settings, schema, seen, prefix: text.slice(span.start, offset), tokens });
    // A separator that is there already is not written again.
    return {
      span,
      words: words.map((word) => (text[span.end] === word.suffix ? { ...word, suffix: undefined } : word)),
    };
  },

  outline: (text) => {
    const { tokens } = readFrameTokens(text);
    const header = tokens.find(({ role, part }) => role === 'punctuation' && part === 'operation' && text[0] === '@');
    const bodyAt = tokens.find(({ part, text: token }) => part === 'operation' && token === '{')?.start ?? text.length;
    return {
      name: header === undefined ? text.slice(0, 80) || 'frame' : text.slice(0, bodyAt),
      detail: (meaning(INTENTS, tokens.find(({ role }) => role === 'intent')?.text ?? '') ?? '').replace(
        / (?:of|in)$/,
        '',
      ),
      kind: 'message',
      span: { start: 0, end: text.length },
      selection: { start: 0, end: bodyAt },
      children: parametersOf(text, tokens),
    };
  },

  words: (text) => {
    const { tokens } = readFrameTokens(text);
    const ids = ['mid', 'cid'].map((key) => writtenValue(text, tokens, 'metadata', key));
    return {
      agents: tokens
        .filter(({ role }) => role === 'agent')
        .map((token) => token.text.replace('@', ''))
        .filter(Boolean),
      operations: tokens.filter(({ role }) => role === 'operation').map((token) => token.text),
      ids: ids.filter((id) => id !== undefined),
      references: tokens.filter(({ role }) => role === 'ref').map((token) => token.text.slice(1)),
    };
  },
};

const COLORS: Readonly<Partial<Record<FrameToken['role'], TokenType>>> = {
  agent: 'namespace',
  intent: 'keyword',
  operation: 'function',
  key: 'property',
  string: 'string',
  number: 'number',
  boolean: 'enumMember',
  null: 'enumMember',
  ref: 'variable',
  mention: 'namespace',
  escape: 'regexp',
};

/** Returns the parameters of the payload. */
function parametersOf(text: string, tokens: readonly FrameToken[]): readonly Outline[] {
  const found: { readonly key: FrameToken; end: number }[] = [];
  for (const token of tokens) {
    if (token.part !== 'payload' || token.depth === 0) continue;
    const isSeparator = token.depth === 1 && (token.text === '|' || token.text === ',');
    if (token.role === 'key' && token.depth === 1) found.push({ key: token, end: token.end });
    else if (found.length > 0 && !isSeparator) found.at(-1)!.end = token.end;
  }
  return found.map(({ key, end }) => ({
    name: key.text,
    detail: text.slice(key.end + 1, end),
    kind: 'key',
    span: { start: key.start, end },
    selection: key,
    children: [],
  }));
}

/** Returns the schema that a frame names, known or not. */
export function schemaOf(text: string, registry: Registry): SchemaDefinition | undefined {
  const { tokens } = readFrameTokens(text);
  const code = writtenValue(text, tokens, 'payload', 'schema');
  return code === undefined ? undefined : registry.byCode(code);
}

/** Describes one part of a frame in Markdown. */
function describe(
  token: FrameToken,
  text: string,
  tokens: readonly FrameToken[],
  settings: MessageSettings,
): string | null {
  const { role, part, key } = token;
  const shown = asCode(token.text);
  const { registry } = settings;
  switch (role) {
    case 'agent':
      return `${shown} is the agent that sends the frame (${DRAFT}, section 3.1).`;
    case 'intent': {
      const verb = meaning(INTENTS, token.text);
      if (verb !== undefined) return `${shown}: the agent ${verb} the operation (${DRAFT}, section 4.1).`;
      return TRANSPORT_INTENTS.includes(token.text)
        ? `${shown} keeps a connection alive (${DRAFT}, section 11.2).`
        : `${shown} is not a core intent (${DRAFT}, section 4.1).`;
    }
    case 'operation': {
      const owner = Object.keys(registry.schemas).find((name) =>
        registry.schemas[name]!.operations?.includes(token.text),
      );
      if (CORE_OPERATIONS.includes(token.text)) return `${shown} is a core operation (${DRAFT}, section 4.3).`;
      if (owner !== undefined)
        return `${shown} is an operation of the schema ${asCode(owner)} (${DRAFT}, section 6.2).`;
      return registry.operations.includes(token.text)
        ? `${shown} is an operation of the registry (${DRAFT}, section 4.3).`
        : `${shown} is a custom operation (${DRAFT}, section 4.3).`;
    }
    case 'key':
      return keyText(token, text, registry);
    case 'ref': {
      const tier = meaning(TIERS, token.text.slice(1).split('.')[0]!);
      return `${shown} is a reference to ${tier ?? 'a value in state'} (${DRAFT}, section 5.1).`;
    }
    case 'mention':
      return `${shown} mentions an agent; only the lenient dialect allows it (${DRAFT}, section 3.2).`;
    case 'punctuation':
    case 'invalid':
      return null;
    default:
      return valueText(token, part, key, text, tokens);
  }
}

function keyText({ text: key, part, depth }: FrameToken, text: string, registry: Registry): string {
  const shown = asCode(key);
  if (part === 'metadata') {
    const known = meaning(ENVELOPE, key);
    return known === undefined
      ? `${shown} is not a field of the standard envelope (${DRAFT}, section 3.5).`
      : `${shown}: ${known}, of the envelope (${DRAFT}, section 3.5).`;
  }
  if (depth > 1) return `${shown} is a key of a map (${DRAFT}, section 3.1).`;
  if (key === 'schema') return `${shown}: the code of the schema of the payload (${DRAFT}, section 6.3).`;
  const schema = schemaOf(text, registry);
  const full = keyTable(schema?.code).expand(key);
  const lines: string[] = [];
  const standard = meaning(ABBREVIATIONS, key);
  if (schema?.fields.includes(full)) {
    const type = schema.types?.[full];
    const fallback = schema.defaults?.[full];
    const details = [
      type && `type ${type}`,
      fallback !== undefined && `default ${asCode(String(JSON.stringify(fallback)))}`,
    ].filter(Boolean);
    const more = details.length === 0 ? '' : `: ${details.join(', ')}`;
    lines.push(
      `${shown} is the field ${asCode(full)} of the schema ${asCode(schema.code)}${more} (${DRAFT}, section 6).`,
    );
  } else if (standard !== undefined) lines.push(`${shown}: ${standard} (${DRAFT}, section 4.2).`);
  else lines.push(`${shown} is a parameter of the payload (${DRAFT}, section 3.1).`);
  return lines.join('\n\n');
}

const KIND_NAMES: Readonly<Partial<Record<FrameToken['role'], string>>> = {
  string: 'a string',
  escape: 'an escaped delimiter in a string',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null: the absence of a value',
};

function valueText(
  token: FrameToken,
  part: string,
  key: string | undefined,
  text: string,
  tokens: readonly FrameToken[],
): string | null {
  const kind = KIND_NAMES[token.role];
  if (kind === undefined) return null;
  if (key === 'code' && part === 'payload' && Object.hasOwn(ERROR_CODES, token.text)) {
    const { name, retryable } = ERROR_CODES[token.text as keyof typeof ERROR_CODES];
    return `${asCode(token.text)}: ${asText(name)}, ${retryable ? 'retryable' : 'not retryable'} (${DRAFT}, section 3.6).`;
  }
  const date = key === 'ts' && token.role === 'number' ? new Date(Number(token.text) * 1000) : undefined;
  const when = date === undefined || Number.isNaN(date.getTime()) ? '' : `, ${date.toISOString()}`;
  const all = key === undefined ? undefined : writtenValue(text, tokens, part as 'payload', key);
  const canonical =
    token.role === 'number' && all === token.text && Number.isSafeInteger(Number(all))
      ? digitsOf(Number(all))
      : token.text;
  const spelling = canonical === token.text || token.text.includes('.') ? '' : `; canonically ${asCode(canonical)}`;
  return `${asCode(token.text)} is ${kind}${when}${spelling} (${DRAFT}, section 3.1).`;
}

interface Cursor {
  readonly place: FramePlace;
  readonly settings: MessageSettings;
  readonly schema: SchemaDefinition | undefined;
  readonly seen: SeenWordsOf;
  readonly prefix: string;
  readonly tokens: readonly FrameToken[];
}

type SeenWordsOf = Parameters<MessageLanguage['complete']>[3];

/** The words that may stand in each part of a frame. */
const WORDS: Readonly<Record<FramePlace['part'], (cursor: Cursor) => readonly CompletionWord[]>> = {
  agent: ({ seen, settings }) =>
    [...new Set([...seen.agents, ...(settings.registry.compact?.agents ?? [])])].map((name) => ({
      word: `@${name}`,
      kind: 'agent',
      suffix: '>',
    })),
  intent: () => [
    ...Object.entries(INTENTS).map(([word, detail]) => ({ word, kind: 'keyword', detail, suffix: ':' }) as const),
    ...TRANSPORT_INTENTS.map(
      (word) => ({ word, kind: 'keyword', detail: 'keeps a connection alive', suffix: ':' }) as const,
    ),
  ],
  operation: ({ seen, settings: { registry } }) =>
    [...new Set([...registry.operations, ...seen.operations])].map((word) => ({
      word,
      kind: 'operation',
      detail: CORE_OPERATIONS.includes(word) ? 'core operation' : undefined,
      suffix: '{',
    })),
  payload: (cursor) => (cursor.place.expectsKey ? payloadKeys(cursor) : values(cursor)),
  metadata: ({ place, seen }) => {
    if (place.expectsKey)
      return Object.entries(ENVELOPE)
        .filter(([key]) => !place.keys.slice(0, -1).includes(key))
        .map(([word, detail]) => ({ word, kind: 'key', detail, suffix: ':' }));
    return place.key === 'cid' || place.key === 'aid' ? [...seen.ids].map((word) => ({ word, kind: 'value' })) : [];
  },
  end: () => [],
};

function payloadKeys({ place, schema, prefix }: Cursor): readonly CompletionWord[] {
  if (place.depth > 1) return [];
  // The word under the cursor is not in use yet.
  const used = new Set(prefix === '' ? place.keys : place.keys.slice(0, -1));
  const table = keyTable(schema?.code);
  const fields =
    schema?.fields.map((field) => ({ word: table.abbreviate(field), detail: `${field} (${schema.code})` })) ?? [];
  const standard = Object.entries(ABBREVIATIONS).map(([word, detail]) => ({ word, detail }));
  const all = [...fields, ...standard, { word: 'schema', detail: 'code of the schema' }];
  return all
    .filter(({ word }, index) => !used.has(word) && all.findIndex((other) => other.word === word) === index)
    .map(({ word, detail }) => ({ word, kind: 'key', detail, suffix: ':' }));
}

function values({ place, settings: { registry }, schema, seen, prefix, tokens }: Cursor): readonly CompletionWord[] {
  const { key } = place;
  if (prefix.startsWith('$')) {
    const tiers = Object.entries(TIERS).map(
      ([word, detail]) => ({ word: `$${word}.`, kind: 'reference', detail }) as const,
    );
    return [...tiers, ...[...seen.references].map((word) => ({ word: `$${word}`, kind: 'reference' }) as const)];
  }
  if (place.depth > 1 || key === undefined) return [];
  if (key === 'schema')
    return Object.entries(registry.schemas).map(([name, { code }]) => ({ word: code, kind: 'value', detail: name }));
  if (key === 'code' && tokens.some(({ role, text }) => role === 'intent' && text === 'fail'))
    return Object.entries(ERROR_CODES).map(([word, { name }]) => ({ word, kind: 'value', detail: name }));
  const full = keyTable(schema?.code).expand(key);
  if (schema?.types?.[full] === 'boolean') return ['true', 'false'].map((word) => ({ word, kind: 'value' }));
  return [];
}
