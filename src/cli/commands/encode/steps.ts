/** Implements `pegwire encode aacp --workflow`. */
import {
  EncodeError,
  type EncodeLoss,
  type EncodeOptions,
  encodeStep,
  type InputInfo,
  type MethodInfo,
  type StepResult,
} from '../../../aacp/encoders/index.js';
import { PegwireError } from '../../../text/errors.js';
import { quoted } from '../../../text/visible.js';
import { UsageError } from '../../io/errors.js';
import { notJson, parseExactJson } from '../../io/exact-json.js';
import type { Line } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import { forEachLine, noteLine, reject } from '../../io/report.js';
import type { Invocation, KnownOptions } from '../../options/command.js';
import { type Given, type Option, optional, texts } from '../../options/option.js';
import { findMethod, type NamedMethod } from '../aacp/workflows.js';
import { type ENCODE_OPTIONS, WORKFLOW_OPTIONS } from './options.js';

type Run = Invocation<typeof ENCODE_OPTIONS>;

/** Returns the options of a step: those of every step, and one per input. @throws UsageError if the step is unknown */
export function stepOptions(name: string): KnownOptions {
  const { method, title } = findMethod(name);
  const inputs = method.inputs.flatMap((input) =>
    spellings(input.name).map((spelling) => [spelling, inputOption(input)] as const),
  );
  const shown = method.inputs.map((input) => `--${input.name}`);
  return {
    options: { ...WORKFLOW_OPTIONS, ...Object.fromEntries(inputs) },
    hint: `${title} has the inputs ${shown.join(', ')}`,
  };
}

function inputOption({ type, description }: InputInfo): Option<unknown> {
  return type === 'boolean' ? optional('', description, (given) => given) : texts('', description);
}

/** Returns the names of the option of an input: `return_agent` and `return-agent`. */
function spellings(input: string): readonly string[] {
  return [...new Set([input, input.replaceAll('_', '-')])];
}

/** Encodes a step with the inputs of the options, the file or stdin. @returns the exit code */
export async function encodeSteps(invocation: Run): Promise<number> {
  const { options, file, stdin } = invocation;
  const named = findMethod(String(options.workflow));
  const encoding: EncodeOptions = {
    compat: options.compat,
    receiver: { knowsFields: options['receiver-knows-fields'] },
  };
  const shared = inputsFromOptions(named.method, invocation);
  const encode = (line: Line | null, more: () => Inputs): Promise<boolean> =>
    encodeOne(invocation, line, () => callStep(named, { ...shared, ...more() }, encoding));

  const { input } = options;
  if (input !== undefined) return (await encode(null, () => inputsFromJson(input))) ? 0 : 1;
  const isAlone = file === undefined && (Object.keys(shared).length > 0 || stdin.isTTY === true);
  if (isAlone) return (await encode(null, () => ({}))) ? 0 : 1;

  const noun = `JSON object with the inputs of ${named.title}`;
  const { exitCode } = await forEachLine(invocation, noun, (line) => encode(line, () => inputsFromJson(line.text)));
  return exitCode;
}

function callStep({ encoder, method }: NamedMethod, inputs: Inputs, options: EncodeOptions): readonly StepResult[] {
  return [encodeStep(encoder, method.name, inputs, options)].flat();
}

/** Encodes one set of inputs. @returns `false` if it was not encoded, after reporting the error */
async function encodeOne(invocation: Run, line: Line | null, call: () => readonly StepResult[]): Promise<boolean> {
  const { json, output } = invocation;
  let results: readonly StepResult[];
  try {
    results = call();
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    await reject(invocation, line, thrown);
    return false;
  }
  for (const result of results) {
    if (json) await output.result(toJson({ line: line?.number, ok: true, ...dataOf(result) }));
    else {
      await output.result(result.packet);
      await noteStep(invocation, line, result, results.length > 1);
    }
  }
  return true;
}

/** Reads all members, since some are computed lazily. */
function dataOf(result: StepResult): StepResult {
  const { packet, step, task, domain, tokens, losses, diagnostics, lint, referenced, cost } = result;
  return { packet, step, task, domain, tokens, losses, diagnostics, lint, referenced, cost };
}

/** Inputs by name, without a prototype. */
type Inputs = Readonly<Record<string, unknown>>;

/** Returns the inputs that are given as options. @throws UsageError if one is repeated or not a boolean */
function inputsFromOptions({ inputs }: MethodInfo, { given: asGiven }: Run): Inputs {
  const given: Record<string, unknown> = Object.create(null);
  for (const input of inputs) {
    const values = spellings(input.name).flatMap((option) => asGiven[option] ?? []);
    if (values.length === 0) continue;
    if (input.type === 'list') given[input.name] = values.flatMap((value) => String(value).split(','));
    else if (values.length > 1)
      throw new UsageError(`--${input.name} must be given once; got it ${values.length} times`);
    else given[input.name] = input.type === 'boolean' ? flagOf(input.name, values[0]!) : values[0];
  }
  return given;
}

/** Parses a JSON object of inputs; numbers keep all digits. @throws PegwireError if it is invalid */
function inputsFromJson(text: string): Inputs {
  const help = 'write the inputs by name, for example {"period":"2024-08"}';
  let read: ReturnType<typeof parseExactJson>;
  try {
    read = parseExactJson(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw notJson(thrown, text, help);
    throw thrown as PegwireError;
  }
  const { value, losses } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EncodeError({ code: 'bad-input', path: 'inputs', message: 'must be a JSON object', help });
  const inputs: Record<string, unknown> = Object.assign(Object.create(null), value);
  // Text keeps all digits.
  for (const { path, from } of losses) if (Object.hasOwn(inputs, path)) inputs[path] = from;
  for (const [name, input] of Object.entries(inputs)) if (typeof input === 'bigint') inputs[name] = String(input);
  return inputs;
}

function flagOf(name: string, value: Given): boolean {
  if (value === true || value === 'true') return true;
  if (value === 'false') return false;
  throw new UsageError(`--${name} must be true or false; got "${value}"`);
}

const CHANGES: Readonly<Record<Exclude<EncodeLoss['kind'], 'referenced'>, string>> = {
  'upper-case': 'in upper case',
  'lower-case': 'in lower case',
  'space-to-hyphen': 'with hyphens for spaces',
  'space-to-underscore': 'with underscores for spaces',
  'hyphen-to-underscore': 'with underscores for hyphens',
  rounded: 'rounded',
  transformed: 'changed by the workflow',
  'known-to-receiver': 'omitted, since the receiver knows it',
  'not-emitted': 'omitted, as in the reference SDK',
};

/** Writes the losses, diagnostics and hints of a step to stderr. @param several `true` if there are several steps, so that each is named */
async function noteStep(
  invocation: Run,
  line: Line | null,
  { losses, diagnostics, lint, referenced, step }: StepResult,
  several: boolean,
): Promise<void> {
  const note = (text: string): Promise<void> => noteLine(invocation, line, several ? `${step}: ${text}` : text);
  // Pointers are reported together below.
  for (const { input, key, kind, from, to } of losses) {
    if (kind === 'referenced') continue;
    const place = key === null ? '' : ` in ${key}`;
    const change = to === null ? 'is' : `is written${place} as ${quoted(to)},`;
    await note(`${input} ${quoted(from)} ${change} ${CHANGES[kind]}`);
  }
  if (referenced !== null) {
    const data = Object.entries(referenced.data).map(([name, value]) => `${name} ${quoted(value)}`);
    await note(
      `data_ptr ${referenced.pointer} refers to ${data.join(', ')}; store these where the receiver can look them up`,
    );
  }
  for (const { severity, code, message } of diagnostics) await note(`${severity}[${code}]: ${message}`);
  for (const { severity, code, input, message, help } of lint) {
    const place = input === null ? '' : `${input}: `;
    const advice = help === undefined ? message : `${message.replace(/\.$/, '')}; ${help}`;
    await note(`${severity}[${code}]: ${place}${advice}`);
  }
}
