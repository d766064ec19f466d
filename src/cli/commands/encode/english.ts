/** The work of `pegwire encode aacp --english`. */
import {
  createFallbackEncoder,
  type EncodeOptions,
  type FallbackEncoder,
  FallbackError,
  type FallbackResult,
  ModelError,
  memoryRegistry,
  type Registry,
} from '../../../aacp/fallback/index.js';
import { PegwireError } from '../../../text/errors.js';
import { tellExplanation } from '../../aacp/explanation.js';
import { explanationData } from '../../aacp/explanation-data.js';
import { modelOf } from '../../aacp/model-option.js';
import { noteRequest, refuseRequest } from '../../aacp/refusal.js';
import { type Line, readLines } from '../../io/input.js';
import { errorJson, toJson } from '../../io/json.js';
import { givenNow } from '../../now.js';
import { choice, type Invocation, UsageError } from '../../options/command.js';
import { openRegistry, registryFault } from '../aacp/open-registry.js';
import { chosenRules } from '../aacp/open-rules.js';
import { addResult, emptyTotals, noteResult, noteTotals, type Totals } from './english-report.js';

/** @returns the exit code: 1 when an instruction was not encoded, or when there was none */
export async function encodeInstructions(invocation: Invocation): Promise<number> {
  const { options, file } = invocation;
  const asked = requestOptions(invocation);
  const given = options['english'];
  // A dash is stdin, as where a file stands.
  const alone = typeof given === 'string' && given !== '-' ? given : null;
  if (typeof given === 'string' && file !== undefined) {
    const what = alone === null ? 'reads the standard input' : 'has an instruction already';
    throw new UsageError(`--english ${what}; "${file}" is one input too many`);
  }
  const { encoder, close } = await openEncoder(invocation);
  try {
    if (alone !== null)
      return (await answer(invocation, null, alone, { encoder, asked, totals: emptyTotals() })) ? 0 : 1;
    const totals = emptyTotals();
    for await (const line of readLines(invocation)) {
      totals.instructions++;
      if (!(await answer(invocation, line, line.text, { encoder, asked, totals }))) totals.refused++;
    }
    await tellEnd(invocation, totals);
    return totals.instructions === 0 || totals.refused > 0 ? 1 : 0;
  } catch (thrown) {
    throw registryFault(thrown);
  } finally {
    await close();
  }
}

function requestOptions(invocation: Invocation): EncodeOptions {
  const { options } = invocation;
  const { domain, 'return-agent': returnAgent } = options;
  if (typeof domain !== 'string') throw new UsageError('--english needs a --domain, such as HR or FIN');
  return {
    domain,
    returnAgent: typeof returnAgent === 'string' ? returnAgent : undefined,
    priority: choice(invocation, 'priority', ['1', '2', '3'] as const, '2'),
  };
}

interface OpenEncoder {
  readonly encoder: FallbackEncoder;
  readonly close: () => Promise<void>;
}

async function openEncoder(invocation: Invocation): Promise<OpenEncoder> {
  const { json, output, options } = invocation;
  const now = givenNow(invocation);
  const threshold = thresholdOf(invocation);
  const model = modelOf(invocation, (notice) => {
    void output.note(json ? toJson({ notice }) : `${notice.provider}: ${notice.message}`);
  });
  const rules = await chosenRules(invocation);
  const registry = await chosenRegistry(invocation);
  const clock = now === undefined ? undefined : () => now * 1000;
  const encoder = createFallbackEncoder({
    model,
    registry,
    rules,
    threshold,
    clock,
    strict: options['strict'] === true,
  });
  const close = async (): Promise<void> => {
    try {
      await encoder.close();
    } finally {
      registry?.close();
    }
  };
  return { encoder, close };
}

async function chosenRegistry(invocation: Invocation): Promise<Registry | null> {
  const { options } = invocation;
  const file = typeof options['registry'] === 'string' ? options['registry'] : undefined;
  if (file === 'none') return null;
  if (file === 'memory') return memoryRegistry();
  // Who only asks what would happen changes nothing.
  return openRegistry(invocation, { file, create: options['explain'] !== true, otherwise: 'memory' });
}

function thresholdOf({ options }: Invocation): number | undefined {
  const given = options['threshold'];
  if (given === undefined) return undefined;
  const threshold = Number(given);
  if (threshold > 0 && threshold <= 1) return threshold;
  throw new UsageError(`--threshold is a number above 0 and up to 1, not "${String(given)}"`);
}

interface Asking {
  readonly encoder: FallbackEncoder;
  readonly asked: EncodeOptions;
  readonly totals: Totals;
}

/** @returns whether there was an answer; what was refused has been told */
async function answer(
  invocation: Invocation,
  line: Line | null,
  instruction: string,
  { encoder, asked, totals }: Asking,
): Promise<boolean> {
  try {
    if (invocation.options['explain'] === true) {
      await tellExplanation(invocation, line, await encoder.explain(instruction, asked));
      return true;
    }
    const result = await encoder.encode(instruction, asked);
    addResult(totals, result);
    await tellResult(invocation, line, result);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof FallbackError || thrown instanceof ModelError)) throw thrown;
    // The options say it, whatever the instruction.
    if (thrown.code === 'bad-request') throw new UsageError(thrown.message.replace(/\.$/, ''));
    addResult(totals, thrown);
    await tellRefusal(invocation, line, thrown);
    return false;
  }
}

async function tellResult(invocation: Invocation, line: Line | null, result: FallbackResult): Promise<void> {
  const { json, output } = invocation;
  if (!json) {
    await output.result(result.packet);
    return noteResult(invocation, line, result);
  }
  const { packet, task, domain, tier, explain, cost, usage, tokens, warnings } = result;
  const place = line === null ? {} : { line: line.number };
  const said = { packet, task, domain, tier, cost, usage, tokens, warnings, explain: explanationData(explain) };
  await output.result(toJson({ ...place, ok: true, ...said }));
}

/** With what the model wrote, and what that cost: it was paid. */
async function tellRefusal(
  invocation: Invocation,
  line: Line | null,
  error: FallbackError | ModelError,
): Promise<void> {
  const { json, output } = invocation;
  const replies = error instanceof FallbackError ? error.replies : [];
  if (json) {
    const place = line === null ? {} : { line: line.number };
    return output.result(toJson({ ...place, ok: false, error, ...(replies.length > 0 ? { replies } : {}) }));
  }
  await refuseRequest(invocation, line, withWayOut(error));
  for (const reply of replies) await noteRequest(invocation, line, `the model wrote: ${reply}`);
}

/** What to do about it here: the library speaks of its own options. */
const WAYS_OUT: ReadonlyMap<string, string> = new Map([
  [
    'no-model',
    'name a model with --model anthropic:NAME, openai:NAME or URL#NAME, or a rule that covers it with --rules',
  ],
  ['model-unauthorised', 'the key stands in ANTHROPIC_API_KEY, OPENAI_API_KEY, or the variable of --key-variable'],
]);

function withWayOut(error: PegwireError): PegwireError {
  const { code, message } = error;
  const help = WAYS_OUT.get(code);
  return help === undefined ? error : new PegwireError({ code, message, help });
}

async function tellEnd(invocation: Invocation, totals: Totals): Promise<void> {
  const { json, output, options } = invocation;
  if (totals.instructions === 0) {
    const message = 'The input is empty: it holds no instruction';
    await output.note(json ? errorJson('empty', message) : `${message}.`);
  } else if (!json && options['explain'] !== true) await noteTotals(invocation, totals);
}
