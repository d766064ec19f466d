/** Implements `pegwire encode aacp --english`. */
import process from 'node:process';
import {
  type Candidate,
  createFallbackEncoder,
  type EncodeOptions,
  type FallbackEncoder,
  FallbackError,
  type FallbackExplanation,
  type FallbackResult,
  ModelError,
  memoryRegistry,
  type Registry,
  type Tier,
} from '../../../aacp/fallback/index.js';
import {
  anthropicModel,
  type Model,
  type ModelNotice,
  openaiCompatibleModel,
  openaiModel,
  type ProviderPrice,
} from '../../../aacp/models/index.js';
import { PegwireError } from '../../../text/errors.js';
import { quoted, visible } from '../../../text/visible.js';
import { didYouMean, UsageError } from '../../io/errors.js';
import type { Line } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import { count, forEachLine, noteLine, reject } from '../../io/report.js';
import type { Invocation } from '../../options/command.js';
import { dollars, openRegistry, registryFault } from '../aacp/open-registry.js';
import { chosenRules } from '../aacp/open-rules.js';
import type { ENCODE_OPTIONS } from './options.js';

type Run = Invocation<typeof ENCODE_OPTIONS>;

/** Encodes the instructions of the option, the file or stdin. @returns the exit code */
export async function encodeInstructions(invocation: Run): Promise<number> {
  const { options, file } = invocation;
  const request = requestOptions(options);
  const given = options.english;
  // A dash means stdin.
  const single = typeof given === 'string' && given !== '-' ? given : null;
  if (typeof given === 'string' && file !== undefined) {
    const what = single === null ? 'reads stdin' : 'has an instruction';
    throw new UsageError(`--english ${what}; remove the file "${file}"`);
  }
  const { encoder, close } = await openEncoder(invocation);
  try {
    const totals = emptyTotals();
    const encoding = { encoder, request, totals };
    if (single !== null) return (await encodeOne(invocation, null, single, encoding)) ? 0 : 1;
    const { lines, rejected, exitCode } = await forEachLine(invocation, 'instruction', (line) =>
      encodeOne(invocation, line, line.text, encoding),
    );
    if (lines > 0 && !invocation.json && !options.explain) await noteTotals(invocation, totals, lines, rejected);
    return exitCode;
  } catch (thrown) {
    throw registryFault(thrown);
  } finally {
    await close();
  }
}

function requestOptions({ domain, 'return-agent': returnAgent, priority }: Run['options']): EncodeOptions {
  if (domain === undefined) throw new UsageError('--english requires --domain, for example --domain HR');
  return { domain, returnAgent, priority };
}

async function openEncoder(invocation: Run) {
  const { json, output, options } = invocation;
  const { now, threshold, strict } = options;
  const model = modelOf(options, (notice) => {
    void output.note(
      json
        ? toJson({ notice })
        : labelled('warning', notice.code, `${notice.provider}: ${notice.message}`, output.paintNote),
    );
  });
  const rules = await chosenRules(invocation);
  const registry = await chosenRegistry(invocation);
  const clock = now === undefined ? undefined : () => now;
  const encoder = createFallbackEncoder({ model, registry, rules, threshold, now: clock, strict });
  const close = async (): Promise<void> => {
    try {
      await encoder.close();
    } finally {
      registry?.close();
    }
  };
  return { encoder, close };
}

async function chosenRegistry(invocation: Run): Promise<Registry | null> {
  const { registry: file, explain } = invocation.options;
  if (file === 'none') return null;
  if (file === 'memory') return memoryRegistry();
  // --explain must not create a file.
  return openRegistry(invocation, { file, create: !explain, otherwise: 'memory' });
}

/** Encodes or explains one instruction. @returns `false` if it was not encoded, after reporting the error */
async function encodeOne(
  invocation: Run,
  line: Line | null,
  instruction: string,
  { encoder, request, totals }: { encoder: FallbackEncoder; request: EncodeOptions; totals: Totals },
): Promise<boolean> {
  try {
    if (invocation.options.explain) {
      await showExplanation(invocation, line, await encoder.explain(instruction, request));
      return true;
    }
    const result = await encoder.encode(instruction, request);
    addResult(totals, result);
    await showResult(invocation, line, result);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof FallbackError || thrown instanceof ModelError)) throw thrown;
    // The options are wrong, whatever the instruction.
    if (thrown.code === 'bad-request') throw new UsageError(thrown.message.replace(/\.$/, ''));
    addResult(totals, thrown);
    await showError(invocation, line, thrown);
    return false;
  }
}

async function showResult(invocation: Run, line: Line | null, result: FallbackResult): Promise<void> {
  const { json, output } = invocation;
  if (!json) {
    await output.result(result.packet);
    return noteResult(invocation, line, result);
  }
  const { packet, task, domain, tier, explain, cost, usage, tokens, warnings } = result;
  const data = { packet, task, domain, tier, cost, usage, tokens, warnings, explain: explanationData(explain) };
  await output.result(toJson({ line: line?.number, ok: true, ...data }));
}

/** Reports an error, with the replies of the model, which were paid for. */
async function showError(invocation: Run, line: Line | null, error: FallbackError | ModelError): Promise<void> {
  const { json, output } = invocation;
  const replies = error instanceof FallbackError ? error.replies : [];
  if (json) {
    const paid = replies.length > 0 ? replies : undefined;
    return output.result(toJson({ line: line?.number, ok: false, error, replies: paid }));
  }
  await reject(invocation, line, withHelp(error));
  for (const reply of replies) await noteLine(invocation, line, `reply of the model: ${reply}`);
}

/** Help that names options of the command, in place of the help of the library. */
const HELP: ReadonlyMap<string, string> = new Map([
  [
    'no-model',
    'set --model to anthropic:NAME, openai:NAME or URL#NAME, or add a rule for the instruction with --rules',
  ],
  [
    'model-unauthorised',
    'set the key in ANTHROPIC_API_KEY or OPENAI_API_KEY, or name another variable with --key-variable',
  ],
]);

function withHelp(error: PegwireError): PegwireError {
  const { code, message } = error;
  const help = HELP.get(code);
  return help === undefined ? error : new PegwireError({ code, message, help });
}

type Totals = ReturnType<typeof emptyTotals>;

/** Totals of a run: `cost` is the known cost in US dollars, `unpriced` the number of calls whose price is unknown. */
function emptyTotals() {
  return { tiers: { cache: 0, pattern: 0, model: 0 }, cost: 0, unpriced: 0 };
}

function addResult(totals: Totals, result: FallbackResult | FallbackError | ModelError): void {
  if ('tier' in result) totals.tiers[result.tier]++;
  if (!('usage' in result)) return;
  totals.cost += result.cost ?? 0;
  totals.unpriced += result.cost === null ? result.usage.calls : 0;
}

async function noteResult(invocation: Run, line: Line | null, result: FallbackResult): Promise<void> {
  const { tier, cost, usage, explain, warnings } = result;
  const note = (text: string): Promise<void> => noteLine(invocation, line, text);
  const tokens = `${count(usage.calls, 'call')}, ${usage.inputTokens} input and ${usage.outputTokens} output tokens`;
  await note(`${tier}, ${tier === 'model' ? `${costText(cost)} (${tokens})` : 'free'}: ${explain.text}`);
  for (const adjustment of explain.adjustments) await note(`adjusted: ${adjustment}`);
  for (const { code, message } of warnings) await note(`warning[${code}]: ${message}`);
}

async function noteTotals({ output }: Run, totals: Totals, instructions: number, rejected: number): Promise<void> {
  const { tiers, cost, unpriced } = totals;
  const parts = (Object.keys(tiers) as Tier[]).map((tier) => `${tiers[tier]} from ${SOURCES[tier]}`);
  const unknown = unpriced === 0 ? '' : ` and ${count(unpriced, 'call')} of unknown cost`;
  await output.note(
    `${count(instructions, 'instruction')}: ${parts.join(', ')}, ${rejected} not encoded; ${dollars(cost)}${unknown}`,
  );
}

const SOURCES: Readonly<Record<Tier, string>> = {
  cache: 'the registry',
  pattern: 'patterns',
  model: 'the model',
};

function costText(cost: number | null): string {
  return cost === null ? 'unknown cost; set --price' : dollars(cost);
}

const HEADS: Readonly<Record<FallbackExplanation['tier'], string>> = {
  cache: 'from the registry',
  pattern: 'from a pattern',
  model: 'from the model',
  none: 'requires a call of the model',
};

async function showExplanation(
  { json, output, options }: Run,
  line: Line | null,
  explanation: FallbackExplanation,
): Promise<void> {
  if (json) {
    await output.result(toJson({ line: line?.number, ok: true, explain: explanationData(explanation) }));
    return;
  }
  const { tier, text, match, candidates } = explanation;
  const head = tier === 'none' && options.model === undefined ? 'requires a model' : HEADS[tier];
  const place = line === null ? '' : `${line.number}: `;
  await output.result(`${place}${output.paint('bold', head)}: ${visible(text)}`);
  for (const candidate of match === null ? candidates : [match, ...candidates]) {
    for (const shown of candidateLines(candidate)) await output.result(`  ${shown}`);
  }
}

function candidateLines(candidate: Candidate): readonly string[] {
  const { source, score, shared, extra, missing, slots, refusal, reason } = candidate;
  const name =
    source.kind === 'rule'
      ? `rule ${source.rule.id}${source.phrase === null ? '' : ` ${quoted(source.phrase)}`}`
      : `registry ${source.entry.key.slice(0, 12)} ${quoted(source.entry.instruction)}`;
  const values = Object.entries(slots).map(([slot, value]) => `${slot} ${quoted(value)}`);
  const words = [
    ['shared words', shared],
    ['only in the instruction', extra],
    ['only in the pattern', missing],
    ['slots', values],
  ] as const;
  return [
    `${score.toFixed(2)} ${visible(name)}`,
    `     ${refusal === null ? 'matches' : `rejected (${refusal})`}: ${visible(reason)}`,
    ...words.filter(([, list]) => list.length > 0).map(([what, list]) => `     ${what}: ${visible(list.join(', '))}`),
  ];
}

/** Returns an explanation as data; patterns are named without their contents. */
function explanationData(explanation: FallbackExplanation): object {
  const { match, candidates } = explanation;
  return {
    ...explanation,
    match: match === null ? null : candidateData(match),
    candidates: candidates.map(candidateData),
  };
}

function candidateData(candidate: Candidate): object {
  const { source } = candidate;
  const shown =
    source.kind === 'rule'
      ? { kind: source.kind, id: source.rule.id, phrase: source.phrase }
      : { kind: source.kind, key: source.entry.key, instruction: source.entry.instruction };
  return { ...candidate, source: shown };
}

const FORMS = 'anthropic:NAME, openai:NAME or URL#NAME, for example http://127.0.0.1:8080/v1#local';

function modelOf(options: Run['options'], onNotice: (notice: ModelNotice) => void): Model | null {
  const { model: given, price, 'key-variable': variable } = options;
  if (given === undefined) {
    const misplaced = variable !== undefined ? 'key-variable' : price !== undefined ? 'price' : undefined;
    if (misplaced !== undefined) throw new UsageError(`--${misplaced} requires --model`);
    return null;
  }
  const shared = { price: priceOf(price), onNotice, apiKey: keyOf(variable) };
  const [, provider, name] = /^([a-z]+):([^/].*)$/i.exec(given) ?? [];
  if (provider === 'anthropic') return anthropicModel({ ...shared, model: name! });
  if (provider === 'openai') return openaiModel({ ...shared, model: name! });
  const mark = given.lastIndexOf('#');
  const baseUrl = given.slice(0, Math.max(0, mark));
  const model = given.slice(mark + 1);
  const isServer = URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol);
  if (model !== '' && isServer) return openaiCompatibleModel({ ...shared, baseUrl, model });
  const near = provider === undefined ? '' : didYouMean(provider, ['anthropic', 'openai']);
  // The address may contain a password.
  const shown = given.replace(/\/\/[^/]*@/, '//');
  throw new UsageError(`--model must be ${FORMS}; got "${shown}"${near}`);
}

function priceOf(given: string | undefined): ProviderPrice | undefined {
  if (given === undefined) return undefined;
  const [, input, output] = /^([0-9.]+),([0-9.]+)$/.exec(given) ?? [];
  if (Number.isFinite(Number(input)) && Number.isFinite(Number(output)))
    return { input: Number(input), output: Number(output) };
  throw new UsageError(`--price must be the prices of input and output tokens, for example 3,15; got "${given}"`);
}

function keyOf(variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const key = process.env[variable];
  if (key !== undefined && key !== '') return key;
  throw new UsageError(`--key-variable must name an environment variable that is set; got "${variable}"`);
}
