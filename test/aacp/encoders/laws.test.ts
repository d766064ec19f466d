/** Properties of every step of every workflow, for any arguments. The steps and their inputs come from the catalogue. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EncodeError, encodeStep, type StepResult } from '../../../src/aacp/encoders/index.js';
import { type Field, parsePacket, validatePacket } from '../../../src/aacp/index.js';
import { type Args, argsOf, fullArgs, hostile, isCurrencyInput, type Method, STEPS } from './arbitrary-args.js';

function encode({ encoder, name }: Method, args: Args): StepResult {
  return encodeStep(encoder, name, args) as StepResult;
}

/** A result, or `null` if the arguments are rejected. */
function attempt(step: Method, args: Args): StepResult | null {
  try {
    return encode(step, args);
  } catch (thrown) {
    if (thrown instanceof EncodeError) return null;
    throw thrown;
  }
}

function fieldsOf(packet: string): readonly Field[] {
  return parsePacket(packet).fields;
}

const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  'upper-case': (text) => text.toUpperCase(),
  'lower-case': (text) => text.toLowerCase(),
  'space-to-hyphen': (text) => text.split(' ').join('-'),
  'space-to-underscore': (text) => text.split(' ').join('_'),
};

/** The arguments after defaults and normalisations. */
function normalForm({ inputs }: Method, args: Args): string {
  const isGiven = (name: string): boolean => Object.hasOwn(args, name);
  const texts = inputs.map(({ name, default: value, defaultWith, normalise }) => {
    if (!isGiven(name) && defaultWith !== null && !isGiven(defaultWith)) return null;
    const given = isGiven(name) ? args[name] : value;
    if (given === null || given === undefined) return null;
    const change = (text: string): string => normalise.reduce((changed, kind) => CHANGES[kind]!(changed), text);
    return Array.isArray(given) ? given.map(change) : change(textOf(given));
  });
  return JSON.stringify(texts);
}

/** Digits of numbers without an exponent, computed independently by BigInt and string arithmetic. */
function textOf(value: unknown): string {
  if (typeof value !== 'number') return String(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value === 0 ? 0 : value))!;
  const [, sign, whole = '', part = '', power = '0'] = match;
  const point = whole.length + Number(power);
  const digits = (whole + part).padEnd(point, '0').padStart((whole + part).length + Math.max(0, 1 - point), '0');
  const at = Math.max(point, 1);
  return `${sign}${digits.slice(0, at)}${digits.length > at ? `.${digits.slice(at)}` : ''}`;
}

/** Arguments of the same shape, with markers that no normalisation changes, and the texts that the markers replace. */
function marked(args: Args): { readonly args: Args; readonly marks: ReadonlyMap<string, string> } {
  const marks = new Map<string, string>();
  const mark = (path: string): string => {
    const text = isCurrencyInput(path) ? 'ZZZ' : String(7_000_001 + marks.size);
    marks.set(text, path);
    return text;
  };
  const entries = Object.entries(args).map(([name, value]) => {
    if (name === 'priority' || typeof value === 'boolean') return [name, value];
    return [name, Array.isArray(value) ? value.map((_, at) => mark(`${name}[${at}]`)) : mark(name)];
  });
  return { args: Object.fromEntries(entries), marks };
}

/** The fields of a packet, computed from those of the packet with markers and the loss report. */
function rebuilt(step: Method, args: Args, losses: StepResult['losses']): readonly Field[] {
  const { args: markedArgs, marks } = marked(args);
  const { packet, referenced } = encode(step, markedArgs);
  return fieldsOf(packet).map(({ key, value }) => {
    if (value === referenced?.pointer) {
      return { key, value: losses.find(({ kind }) => kind === 'referenced')?.to ?? '' };
    }
    const text = value.replace(/70000\d\d|ZZZ/g, (mark) => {
      const path = marks.get(mark)!;
      const [, name = '', at] = /^(\w+)(?:\[(\d+)\])?$/.exec(path)!;
      const given = at === undefined ? args[name] : (args[name] as readonly unknown[])[Number(at)];
      let current = textOf(given);
      for (const { from, to } of losses.filter((loss) => loss.input === path && loss.key === key)) {
        expect(from).toBe(current);
        expect(to).not.toBe(from);
        current = to ?? '';
      }
      return current;
    });
    return { key, value: text };
  });
}

describe.each(STEPS)('$path', (step) => {
  test('every packet is valid, has no warnings, and parses to the same packet', () => {
    const holds = fc.property(argsOf(step), (args) => {
      const result = attempt(step, args);
      fc.pre(result !== null);
      const { valid, warnings, packet } = validatePacket(result.packet);
      expect({ valid, warnings }).toEqual({ valid: true, warnings: [] });
      expect(packet).toEqual(parsePacket(result.packet));
      expect(result.diagnostics).toEqual([]);
    });
    fc.assert(holds, { numRuns: 40 });
  });

  test('inputs that differ after their normalisations make different packets', () => {
    const alike = fc.tuple(argsOf(step), argsOf(step), fc.subarray(step.inputs.map(({ name }) => name)));
    const holds = fc.property(alike, ([left, other, names]) => {
      // Most inputs are equal, so that one of them has to make the difference.
      const right: Record<string, unknown> = { ...left };
      for (const name of names) if (Object.hasOwn(other, name)) right[name] = other[name];
      const [one, two] = [attempt(step, left), attempt(step, right)];
      fc.pre(one !== null && two !== null);
      expect(one.packet === two.packet).toBe(normalForm(step, left) === normalForm(step, right));
    });
    fc.assert(holds, { numRuns: 60 });
  });

  test('the loss report lists every change of a character, and nothing else', () => {
    const holds = fc.property(argsOf(step), (args) => {
      const result = attempt(step, args);
      fc.pre(result !== null);
      expect(rebuilt(step, args, result.losses)).toEqual(fieldsOf(result.packet));
      const keys = new Set(fieldsOf(result.packet).map(({ key }) => key));
      expect(result.losses.filter(({ key }) => key === null || !keys.has(key))).toEqual([]);
    });
    fc.assert(holds, { numRuns: 40 });
  });

  test('no string in any argument changes the field of another', () => {
    const plain = fullArgs(step);
    const base = fieldsOf(encode(step, plain).packet);
    for (const { name, type } of step.inputs) {
      const own = ownKeys(step, plain, name);
      const values =
        type === 'list'
          ? fc.oneof(
              hostile.map((text) => [text]),
              hostile.map((text) => ['a', text]),
            )
          : hostile;
      const holds = fc.property(values, (value) => {
        let fields: readonly Field[];
        try {
          fields = fieldsOf(encode(step, { ...plain, [name]: value }).packet);
        } catch (thrown) {
          if (!(thrown instanceof EncodeError)) throw thrown;
          expect(thrown.path.replace(/\[\d+\]$/, '')).toBe(name);
          expect(thrown.message).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
          return;
        }
        expect(fields.filter(({ key }) => !own.has(key))).toEqual(base.filter(({ key }) => !own.has(key)));
        expect(new Set(fields.map(({ key }) => key)).size).toBe(fields.length);
      });
      fc.assert(holds, { numRuns: 50 });
    }
  });
});

/** The fields that contain an input: those that differ if it has another harmless value. */
function ownKeys(step: Method, plain: Args, name: string): ReadonlySet<string> {
  const { type } = step.inputs.find((input) => input.name === name)!;
  const word = name === 'priority' ? '3' : isCurrencyInput(name) ? 'EUR' : '7';
  const other = type === 'list' ? ['7'] : type === 'boolean' ? plain[name] !== true : word;
  const before = new Map(fieldsOf(encode(step, plain).packet).map(({ key, value }) => [key, value]));
  const after = fieldsOf(encode(step, { ...plain, [name]: other }).packet);
  const keys = after.filter(({ key, value }) => before.get(key) !== value).map(({ key }) => key);
  return new Set(keys);
}
