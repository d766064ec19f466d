/** Options that restrict a protocol to some of its messages. */
import {
  type AacpLanguageOptions,
  aacpLanguage,
  type FieldOptions as PacketField,
} from '../../aacp/language/language.js';
import { resolveNarrowing as resolvePackets } from '../../aacp/language/narrowing.js';
import type { Dialect as PacketDialect } from '../../aacp/parse.js';
import {
  type AccpLanguageOptions,
  accpLanguage,
  type FieldOptions as FrameField,
  type ValueType,
} from '../../accp/language/language.js';
import { resolveNarrowing as resolveFrames } from '../../accp/language/narrowing.js';
import { type Dialect as FrameDialect, tryParseFrame } from '../../accp/parse.js';
import type { Language } from '../../fuzz/differential/language.js';
import { didYouMean, UsageError } from '../io/errors.js';
import type { Protocol } from '../protocols.js';
import { dialect, integer, text, type Values, value, words } from './option.js';

const USES = ['none', 'optional', 'required'] as const;

export const NARROWING_OPTIONS = {
  dialect: dialect('Grammar dialect: strict (default), lenient (accp) or tolerant (aacp)'),
  fields: text(
    'LIST',
    "Allow only these keys, in this order: 'q:string,limit:integer?,pri=high|low' (no types for aacp)",
  ),
  agents: value('LIST', 'Allow only these senders, separated by commas (accp)', words),
  intents: value('LIST', 'Allow only these intents (accp)', words),
  operations: value('LIST', 'Allow only these operations (accp)', words),
  metadata: value('USE', 'Metadata: none, optional (default), required, or a list as in --fields (accp)', metadata),
  'max-depth': value(
    'N',
    'Allow at most this nesting of arrays and maps, 0 to 5 (accp; default: 5)',
    integer({ from: 0, to: 5 }),
  ),
  tasks: value('LIST', 'Allow only these TASK values (aacp)', words),
  domains: value('LIST', 'Allow only these DOM values (aacp)', words),
  'return-agents': value('LIST', 'Allow only these agents in the return field (aacp)', words),
};

/** Options that apply to one protocol only. */
const OWNED = {
  accp: ['agents', 'intents', 'operations', 'metadata', 'max-depth'],
  aacp: ['tasks', 'domains', 'return-agents'],
} as const;

export interface Narrowed {
  readonly protocol: Protocol;
  readonly options: Values<typeof NARROWING_OPTIONS>;
  readonly given: object;
}

/** Returns the first given option that narrows a protocol, for commands that do not support any. */
export function givenNarrowing({ given }: Pick<Narrowed, 'given'>): string | undefined {
  return Object.keys(NARROWING_OPTIONS).find((name) => name in given);
}

/** Returns the narrowed language. @throws UsageError if an option is invalid */
export function languageFor(narrowed: Narrowed): Language {
  return narrowed.protocol.name === 'accp'
    ? accpLanguage(frameOptions(narrowed))
    : aacpLanguage(packetOptions(narrowed));
}

/** Returns the options of the ACCP language. @throws UsageError if one is invalid */
export function frameOptions(narrowed: Narrowed): AccpLanguageOptions {
  refuseOthers(narrowed, 'aacp');
  const { dialect, agents, intents, operations, fields: list, metadata, 'max-depth': maxDepth } = narrowed.options;
  const fields = list === undefined ? undefined : readFields('fields', list, frameField);
  const options = { dialect: dialect as FrameDialect, agents, intents, operations, fields, metadata, maxDepth };
  return checked(options, resolveFrames);
}

/** Returns the options of the AACP language. @throws UsageError if one is invalid */
export function packetOptions(narrowed: Narrowed): AacpLanguageOptions {
  refuseOthers(narrowed, 'accp');
  const { dialect, tasks, domains, 'return-agents': returnAgents, fields: list } = narrowed.options;
  const fields = list === undefined ? undefined : readFields('fields', list, packetField);
  return checked({ dialect: dialect as PacketDialect, tasks, domains, returnAgents, fields }, resolvePackets);
}

/** Checks options with the library, and reports its TypeErrors as incorrect usage. */
function checked<O>(options: O, resolve: (options: O) => unknown): O {
  try {
    resolve(options);
    return options;
  } catch (thrown) {
    throw thrown instanceof TypeError ? new UsageError(thrown.message) : thrown;
  }
}

function refuseOthers({ given, protocol }: Narrowed, owner: 'accp' | 'aacp'): void {
  const other = OWNED[owner].find((name) => name in given);
  if (other !== undefined) throw new UsageError(`--${other} applies to ${owner}, not to ${protocol.name}`);
}

function metadata(given: string): AccpLanguageOptions['metadata'] {
  const use = USES.find((one) => one === given);
  if (use !== undefined) return use;
  // Probably a typo, not a key.
  const meant = didYouMean(given, USES);
  if (meant !== '')
    throw new UsageError(`--metadata must be ${USES.join(', ')} or a list of fields; got "${given}"${meant}`);
  return readFields('metadata', given, frameField);
}

function frameField({ types, values, optional }: WrittenField): FrameField {
  // The language checks the types.
  return { type: (types as readonly ValueType[] | null) ?? undefined, enum: values?.map(frameValue), optional };
}

/** Reads numbers, keywords and null as a frame would; anything else is text. */
function frameValue(text: string): string | number | boolean | null {
  const result = tryParseFrame(`@a>a:a{v:${text}}`);
  const found = result.ok && result.value.payload.length === 1 ? result.value.payload[0]!.value : undefined;
  if (found?.kind === 'null') return null;
  if (found?.kind === 'boolean') return found.value;
  // Numbers that lose digits stay text, which the language rejects.
  if ((found?.kind === 'integer' || found?.kind === 'decimal') && String(found.value) === text)
    return Number(found.value);
  return text;
}

function packetField({ key, types, values, optional }: WrittenField): PacketField {
  if (types !== null) {
    throw new UsageError(
      `--fields must not have types for aacp; got "${key}:${types.join('|')}"; write ${key} or ${key}=VALUE|VALUE`,
    );
  }
  return { enum: values ?? undefined, optional };
}

/** A field that the protocol has not checked yet. */
type WrittenField = ReturnType<typeof readField>;

const FORM = 'key, key:TYPE, key:TYPE|TYPE or key=VALUE|VALUE, with a final "?" if the field is optional';

/** Parses `q:string,limit:integer?,pri=high|low`. Values cannot contain commas or bars, or end with a question mark. @throws UsageError */
function readFields<Field>(
  option: string,
  list: string,
  toField: (written: WrittenField) => Field,
): readonly (readonly [key: string, Field])[] {
  const fields = list.split(',').map((part) => readField(option, part));
  const seen = new Set<string>();
  for (const { key } of fields) {
    if (seen.has(key)) throw new UsageError(`--${option} contains the key "${key}" twice`);
    seen.add(key);
  }
  return fields.map((field) => [field.key, toField(field)]);
}

function readField(option: string, part: string) {
  const match = /^\s*([^:=?|\s]+)(?:([:=])(.*?))?(\?)?\s*$/.exec(part);
  const [, key, sign, listed, mark] = match ?? [];
  const listedWords = listed?.split('|');
  if (key === undefined || listedWords?.includes(''))
    throw new UsageError(`--${option} contains an invalid field "${part}"; write ${FORM}`);
  return {
    key,
    types: sign === ':' ? listedWords! : null,
    values: sign === '=' ? listedWords! : null,
    optional: mark !== undefined,
  };
}
