/** The work of `pegwire encode aacp --workflow`. */
import { type EncodeOptions, encodeStep, type StepResult } from '../../../aacp/encoders/index.js';
import { PegwireError } from '../../../text/errors.js';
import { refuseRequest } from '../../aacp/refusal.js';
import { type Inputs, inputsFromJson, inputsFromOptions } from '../../aacp/step-inputs.js';
import { noteStep } from '../../aacp/step-notes.js';
import { type Line, readLines } from '../../io/input.js';
import { errorJson, toJson } from '../../io/json.js';
import { choice, type Invocation } from '../../options/command.js';
import { findMethod, type NamedMethod } from '../aacp/steps.js';

/** @returns the exit code: 1 when a packet was not written, or when there was no input */
export async function encodeSteps(invocation: Invocation): Promise<number> {
  const { options, file, stdin } = invocation;
  const named = findMethod(String(options['workflow']));
  const encoding = encodeOptions(invocation);
  const shared = inputsFromOptions(named.method, invocation);
  const encode = (line: Line | null, more: () => Inputs): Promise<boolean> =>
    encodeOne(invocation, line, () => callStep(named, { ...shared, ...more() }, encoding));

  const given = options['input'];
  if (typeof given === 'string') return (await encode(null, () => inputsFromJson(given))) ? 0 : 1;
  const isAlone = file === undefined && (Object.keys(shared).length > 0 || stdin.isTTY === true);
  if (isAlone) return (await encode(null, () => ({}))) ? 0 : 1;

  const totals = { lines: 0, refused: 0 };
  for await (const line of readLines(invocation)) {
    totals.lines++;
    if (!(await encode(line, () => inputsFromJson(line.text)))) totals.refused++;
  }
  if (totals.lines === 0) await tellEmpty(invocation, named);
  return totals.lines === 0 || totals.refused > 0 ? 1 : 0;
}

function encodeOptions(invocation: Invocation): EncodeOptions {
  const { options } = invocation;
  return {
    compat: options['compat'] === undefined ? undefined : choice(invocation, 'compat', ['sdk'] as const),
    receiver: { knowsFields: options['receiver-knows-fields'] === true },
  };
}

function callStep({ encoder, method }: NamedMethod, inputs: Inputs, options: EncodeOptions): readonly StepResult[] {
  return [encodeStep(encoder, method.name, inputs, options)].flat();
}

/** @returns whether the packets were written; what was refused has been told */
async function encodeOne(
  invocation: Invocation,
  line: Line | null,
  call: () => readonly StepResult[],
): Promise<boolean> {
  const { json, output } = invocation;
  let results: readonly StepResult[];
  try {
    results = call();
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    await refuseRequest(invocation, line, thrown);
    return false;
  }
  for (const result of results) {
    if (json)
      await output.result(toJson({ ...(line === null ? {} : { line: line.number }), ok: true, ...dataOf(result) }));
    else {
      await output.result(result.packet);
      await noteStep(invocation, line, result, results.length > 1);
    }
  }
  return true;
}

/** All members: some are worked out only when they are read. */
function dataOf(result: StepResult): StepResult {
  const { packet, step, task, domain, tokens, losses, diagnostics, lint, referenced, cost } = result;
  return { packet, step, task, domain, tokens, losses, diagnostics, lint, referenced, cost };
}

async function tellEmpty({ json, output }: Invocation, { title }: NamedMethod): Promise<void> {
  const message = `The input is empty: it holds no inputs for ${title}, and no option gives one`;
  await output.note(json ? errorJson('empty', message) : `${message}.`);
}
