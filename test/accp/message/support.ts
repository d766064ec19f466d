/** Payloads on their way through a frame, and random ones. */
import fc from 'fast-check';
import { AccpError } from '../../../src/accp/errors.js';
import { parseFrame, printFrame, type Value } from '../../../src/accp/index.js';
import { type FieldType, type Json, Reference } from '../../../src/accp/message/json.js';
import type { Loss } from '../../../src/accp/message/message.js';
import { createReading, readKey, readValue } from '../../../src/accp/message/read-value.js';
import {
  createWriting,
  type TextPolicy,
  type WritingOptions,
  writeParam,
} from '../../../src/accp/message/write-value.js';

export interface Sent {
  readonly frame: string;
  readonly losses: readonly Loss[];
  /** The externalized values, by the path of the reference. */
  readonly kept: ReadonlyMap<string, Json>;
}

/** The frame of a payload with the one key `k`, or the given one. */
export function send(value: unknown, text: TextPolicy, more: Partial<WritingOptions> & SendOptions = {}): Sent {
  const kept = new Map<string, Json>();
  const externalize = (external: Json): string => {
    const path = `cold.x${kept.size}`;
    kept.set(path, external);
    return path;
  };
  const { key = 'k', type, ...options } = more;
  const writing = createWriting({ text, externalize, ...options });
  const payload = [writeParam(key, value as Json, writing, type)];
  const frame = printFrame({ kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload, metadata: null });
  return { frame, losses: writing.losses, kept };
}

interface SendOptions {
  readonly key?: string;
  readonly type?: FieldType | undefined;
}

/** Decodes a frame with one parameter. References are resolved to the stored values, or to themselves. */
export function receive(
  { frame, kept }: Pick<Sent, 'frame' | 'kept'>,
  transliterated: boolean,
  type?: FieldType,
): { readonly key: string; readonly value: Json; readonly losses: readonly Loss[] } {
  const [param] = parseFrame(frame).payload;
  return read(param!.value, transliterated, type, param!.key, kept);
}

export function read(
  node: Value,
  transliterated: boolean,
  type?: FieldType,
  wireKey = 'k',
  kept: ReadonlyMap<string, Json> = new Map(),
): { readonly key: string; readonly value: Json; readonly losses: readonly Loss[] } {
  const resolve = (path: string): Json => (kept.has(path) ? kept.get(path)! : new Reference(path));
  const reading = createReading({ transliterated, resolve });
  const key = readKey(wireKey, reading);
  return { key, value: readValue(node, key, reading, type), losses: reading.losses };
}

/** Code, path and message of the error that a call throws, or what it returns. */
export function refusal(call: () => unknown): unknown {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    return [thrown.code, thrown.path, thrown.message.slice(`${thrown.path}: `.length)];
  }
}

const units = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...'abz AZ 09_-=.,;:<>!?%\'"()$#[]{}|~\\@`/^&*+nt') },
  { weight: 2, arbitrary: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\t', '\u00e9', '\ud83d\ude80', '\ud800', '\u4f1a', '\u0000') },
);

/** Strings of all characters, lone surrogates and controls among them, and those that look like something else. */
export const strings: fc.Arbitrary<string> = fc.oneof(
  fc.array(units, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.constantFrom(
    '',
    '42',
    '-0',
    '007',
    '3.14',
    '1.50',
    'true',
    'false',
    '~',
    "'",
    '"',
    '"[1]',
    "'a B",
    '=(e9)',
    '$x.y',
  ),
  fc.constantFrom(
    '__proto__',
    'sprint_14',
    'Refresh token, not revoked. See RFC 6749: 50 m',
    'toJSON',
    '#1',
    '=',
    '_0',
  ),
  fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/),
);

const numbers: fc.Arbitrary<number | bigint> = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -9_999_999, max: 9_999_999 }).map((value) => value / 10 ** 7),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
  fc.bigInt(-(10n ** 30n), 10n ** 30n),
  fc.constantFrom(-0, 0.1 + 0.2, 1e-7, 5e-324, 2 ** 53, 1e21, 9007199254.740993, 5n, 2n ** 53n),
);

const references = fc.stringMatching(/^[a-z]{1,3}\.[A-Za-z0-9_.]{1,6}$/).map((path) => new Reference(path));

const scalars: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: strings },
  { weight: 3, arbitrary: numbers },
  fc.boolean(),
  fc.constant(null),
  references,
);

/** Values up to eight levels deep. */
export const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 8, depthSize: 'medium' },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(strings, tie('value'), { maxKeys: 3, noNullPrototype: false }),
  ),
})).value;
