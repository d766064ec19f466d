/** Options that say which messages of a protocol are meant, the same ones for all commands that need to know. */
import { type AacpLanguageOptions, aacpLanguage, type FieldOptions as PacketField } from '../aacp/language/language.js';
import { resolveNarrowing as resolvePackets } from '../aacp/language/narrowing.js';
import type { Dialect as PacketDialect } from '../aacp/parse.js';
import {
  type AccpLanguageOptions,
  accpLanguage,
  type FieldOptions as FrameField,
  type ValueType,
} from '../accp/language/language.js';
import { resolveNarrowing as resolveFrames } from '../accp/language/narrowing.js';
import { type Dialect as FrameDialect, tryParseFrame } from '../accp/parse.js';
import type { Language } from '../fuzz/differential/language.js';
import { readFields, readWords, type WrittenField } from './fields.js';
import { NARROWING_OPTIONS } from './narrowing-options.js';
import { choice, didYouMean, type Invocation, UsageError } from './usage.js';

/** Whose option each one is, where it is not everybody's. */
const OWNERS: Readonly<Record<string, 'accp' | 'aacp'>> = {
  agents: 'accp',
  intents: 'accp',
  operations: 'accp',
  metadata: 'accp',
  'max-depth': 'accp',
  tasks: 'aacp',
  domains: 'aacp',
  'return-agents': 'aacp',
};

/** The first of the options that was given, for commands that cannot heed them. */
export function givenNarrowing({ options }: Invocation): string | undefined {
  return Object.keys(NARROWING_OPTIONS).find((name) => options[name] !== undefined);
}

/**
 * The language of the protocol that was named, narrowed by the options.
 *
 * @throws UsageError on options that are none, or of the other protocol
 */
export function languageFor(invocation: Invocation): Language {
  return invocation.protocol.name === 'accp'
    ? accpLanguage(frameOptions(invocation))
    : aacpLanguage(packetOptions(invocation));
}

/** The options of an ACCP language, checked. @throws UsageError */
export function frameOptions(invocation: Invocation): AccpLanguageOptions {
  refuseOthers(invocation);
  const depth = value(invocation, 'max-depth');
  if (depth !== undefined && !/^[0-9]+$/.test(depth)) {
    throw new UsageError(`--max-depth is a whole number, not "${depth}"`);
  }
  const options: AccpLanguageOptions = {
    dialect: choice<FrameDialect>(invocation, 'dialect', ['strict', 'lenient']),
    agents: words(invocation, 'agents'),
    intents: words(invocation, 'intents'),
    operations: words(invocation, 'operations'),
    fields: fields(invocation, 'fields', frameField),
    metadata: metadata(invocation),
    maxDepth: depth === undefined ? undefined : Number(depth),
  };
  asUsage(() => resolveFrames(options));
  return options;
}

/** The options of an AACP language, checked. @throws UsageError */
export function packetOptions(invocation: Invocation): AacpLanguageOptions {
  refuseOthers(invocation);
  const options: AacpLanguageOptions = {
    dialect: choice<PacketDialect>(invocation, 'dialect', ['strict', 'tolerant']),
    tasks: words(invocation, 'tasks'),
    domains: words(invocation, 'domains'),
    returnAgents: words(invocation, 'return-agents'),
    fields: fields(invocation, 'fields', packetField),
  };
  asUsage(() => resolvePackets(options));
  return options;
}

/** What a language says of its options, as an error of usage. */
function asUsage(check: () => unknown): void {
  try {
    check();
  } catch (thrown) {
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : thrown;
  }
}

const USES = ['none', 'optional', 'required'] as const;

function metadata(invocation: Invocation): AccpLanguageOptions['metadata'] {
  const text = value(invocation, 'metadata');
  const use = USES.find((one) => one === text);
  if (text === undefined || use !== undefined) return use;
  // One word that is nearly one of these is a slip of the pen, and no key.
  const meant = didYouMean(text, USES);
  if (meant !== '') throw new UsageError(`--metadata is ${USES.join(', ')} or a list of fields, not "${text}"${meant}`);
  return fields(invocation, 'metadata', frameField);
}

function refuseOthers({ options, protocol }: Invocation): void {
  for (const [name, owner] of Object.entries(OWNERS)) {
    if (options[name] !== undefined && owner !== protocol.name) {
      throw new UsageError(`--${name} is for ${owner}, not for ${protocol.name}`);
    }
  }
}

function frameField({ types, values, optional }: WrittenField): FrameField {
  // Which types there are is the language's to say.
  return { type: (types as readonly ValueType[] | null) ?? undefined, enum: values?.map(frameValue), optional };
}

/** A value as it stands in a frame, and as text where it is no number, keyword or null there. */
function frameValue(text: string): string | number | boolean | null {
  const result = tryParseFrame(`@a>a:a{v:${text}}`);
  const found = result.ok && result.value.payload.length === 1 ? result.value.payload[0]!.value : undefined;
  if (found?.kind === 'null') return null;
  if (found?.kind === 'boolean') return found.value;
  // Digits that a number cannot keep stay text, which the language refuses.
  if ((found?.kind === 'integer' || found?.kind === 'decimal') && String(found.value) === text)
    return Number(found.value);
  return text;
}

function packetField({ key, types, values, optional }: WrittenField): PacketField {
  if (types !== null) {
    throw new UsageError(
      `--fields: ${key}:${types.join('|')} names a type; in packets all is text: ${key}, or ${key}=VALUE|VALUE`,
    );
  }
  return { enum: values ?? undefined, optional };
}

function fields<Field>(
  invocation: Invocation,
  option: string,
  make: (written: WrittenField) => Field,
): readonly (readonly [string, Field])[] | undefined {
  const text = value(invocation, option);
  return text === undefined ? undefined : readFields(option, text).map((field) => [field.key, make(field)] as const);
}

function words(invocation: Invocation, option: string): readonly string[] | undefined {
  const text = value(invocation, option);
  return text === undefined ? undefined : readWords(option, text);
}

function value({ options }: Invocation, name: string): string | undefined {
  const given = options[name];
  return typeof given === 'string' ? given : undefined;
}
