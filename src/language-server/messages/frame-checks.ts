/** The findings about one frame: of the grammar, of the vocabulary, and of the registry. */
import type { Frame, Param, Value } from '../../accp/ast.js';
import { tryParseFrame } from '../../accp/index.js';
import { keyTable } from '../../accp/message/abbreviations.js';
import type { FieldType, SchemaDefinition } from '../../accp/message/json.js';
import { INTENTS } from '../../accp/vocabulary.js';
import type { Span } from '../../text/span.js';
import { nearest } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import type { Finding } from '../language.js';
import type { MessageSettings } from './message-language.js';

/** The sections of the draft for the reasons of E1001. */
const SECTIONS = { syntax: '3.1', 'duplicate-key': '3.1', limit: '9', 'not-a-string': '3.1' } as const;

/** Reports the error of the grammar, or, in a valid frame, what a receiver rejects or does not know. */
export function checkFrame(text: string, settings: MessageSettings): readonly Finding[] {
  const result = tryParseFrame(text, { dialect: settings.dialect, spans: true });
  if (!result.ok) {
    const { code, message, span, help, reason } = result.error;
    return [
      {
        code,
        severity: 'error',
        message,
        span: span ?? { start: 0, end: text.length },
        help,
        section: SECTIONS[reason],
      },
    ];
  }
  const frame = result.value;
  return [...checkHeader(frame, settings), ...checkPayload(frame, settings)];
}

function checkHeader(
  { agent, intent, operation }: Frame,
  { registry, hasRegistry }: MessageSettings,
): readonly Finding[] {
  const findings: Finding[] = [];
  const intentAt = agent.length + 2;
  if (!Object.hasOwn(INTENTS, intent) && intent !== 'ping' && intent !== 'pong') {
    findings.push({
      code: 'E1002',
      severity: 'warning',
      message: `${quotedShort(intent)} is not a core intent; receivers reject it unless it is registered.`,
      span: { start: intentAt, end: intentAt + intent.length },
      help: didYouMean(intent, Object.keys(INTENTS)),
      section: '4.1',
    });
  }
  if (hasRegistry && !registry.operations.includes(operation)) {
    const start = intentAt + intent.length + 1;
    findings.push({
      code: 'unknown-operation',
      severity: 'warning',
      message: `The operation ${quotedShort(operation)} is not in the registry.`,
      span: { start, end: start + operation.length },
      help: didYouMean(operation, registry.operations),
      section: '4.3',
    });
  }
  return findings;
}

function checkPayload({ payload }: Frame, { registry, hasRegistry }: MessageSettings): readonly Finding[] {
  const named = payload.find(({ key }) => key === 'schema');
  const code = named?.value.kind === 'string' ? named.value.value : undefined;
  const schema = code === undefined ? undefined : registry.byCode(code);
  const findings: Finding[] = [];
  if (hasRegistry && code !== undefined && schema === undefined) {
    const codes = Object.values(registry.schemas).map((one) => one.code);
    findings.push({
      code: 'E1003',
      severity: 'error',
      message: `The schema ${quotedShort(code)} is not registered.`,
      span: named!.value.span!,
      help: codes.includes(code.toUpperCase()) ? `did you mean "${code.toUpperCase()}"?` : didYouMean(code, codes),
      section: '6.3',
    });
  }
  return [...findings, ...checkKeys(payload, schema)];
}

function checkKeys(payload: readonly Param[], schema: SchemaDefinition | undefined): readonly Finding[] {
  const table = keyTable(schema?.code);
  const findings: Finding[] = [];
  const first = new Map<string, Param>();
  for (const param of payload) {
    if (param.key === 'schema') continue;
    const full = table.expand(param.key);
    const earlier = first.get(full);
    if (earlier === undefined) first.set(full, param);
    else {
      const message = `The keys "${earlier.key}" and "${param.key}" both mean "${full}".`;
      const related = [keySpan(earlier)];
      findings.push({
        code: 'E1001',
        severity: 'error',
        message,
        span: keySpan(param),
        help: 'remove one of the two',
        section: '4.2',
        related,
      });
    }
    if (schema === undefined) continue;
    const type = Object.hasOwn(schema.types ?? {}, full) ? schema.types![full] : undefined;
    if (type !== undefined && !fits(param.value, type)) {
      const message = `The field "${full}" of the schema ${schema.code} has the type ${type}; this value is ${KINDS[param.value.kind]}.`;
      findings.push({ code: 'E1004', severity: 'error', message, span: param.value.span!, section: '6.2' });
    }
    const meant = schema.fields.includes(full)
      ? undefined
      : nearest(
          param.key,
          schema.fields.flatMap((field) => [field, table.abbreviate(field)]),
        );
    if (meant !== undefined) {
      const message = `The schema ${schema.code} has no field "${full}".`;
      findings.push({
        code: 'unknown-field',
        severity: 'warning',
        message,
        span: keySpan(param),
        help: `did you mean "${meant}"?`,
        section: '6.2',
      });
    }
  }
  return findings;
}

function keySpan({ key, span }: Param): Span {
  return { start: span!.start, end: span!.start + key.length };
}

const KINDS: Readonly<Record<Value['kind'], string>> = {
  string: 'a string',
  integer: 'an integer',
  decimal: 'a decimal',
  boolean: 'a boolean',
  null: 'null',
  array: 'an array',
  map: 'a map',
  ref: 'a reference',
};

/** As the codec reads values: a field of the type string takes every scalar as its text. */
function fits({ kind }: Value, type: FieldType): boolean {
  if (kind === 'ref' || type === 'any') return true;
  if (type === 'string') return kind !== 'null' && kind !== 'array' && kind !== 'map';
  if (type === 'decimal' || type === 'number') return kind === 'integer' || kind === 'decimal';
  return kind === type;
}

function didYouMean(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  return near === undefined ? undefined : `did you mean "${near}"?`;
}
