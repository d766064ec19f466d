/** The work of `pegwire encode aacp --english`. */
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
import { count, forEachLine, noteLine, refuse } from '../../io/report.js';
import type { Invocation } from '../../options/command.js';
import { dollars, openRegistry, registryFault } from '../aacp/open-registry.js';
import { chosenRules } from '../aacp/open-rules.js';
import type { ENCODE_OPTIONS } from './options.js';

type Run = Invocation<typeof ENCODE_OPTIONS>;

export async function encodeInstructions(invocation: Run): Promise<number> {
  const { options, file } = invocation;
  const asked = requestOptions(options);
  const given = options.english;
  // A dash means stdin.
  const alone = typeof given === 'string' && given !== '-' ? given : null;
  if (typeof given === 'string' && file !== undefined) {
    const what = alone === null ? 'reads the standard input' : 'has an instruction already';
    throw new UsageError(`--english ${what}; "${file}" is one input too many`);
  }
  const { encoder, close } = await openEncoder(invocation);
  try {
    const totals = emptyTotals();
    const asking = { encoder, asked, totals };
    if (alone !== null) return (await answer(invocation, null, alone, asking)) ? 0 : 1;
    const { lines, refused, exitCode } = await forEachLine(invocation, 'instruction', (line) =>
      answer(invocation, line, line.text, asking),
    );
    if (lines > 0 && !invocation.json && !options.explain) await noteTotals(invocation, totals, lines, refused);
    return exitCode;
  } catch (thrown) {
    throw registryFault(thrown);
  } finally {
    await close();
  }
}

function requestOptions({ domain, 'return-agent': returnAgent, priority }: Run['options']): EncodeOptions {
  if (domain === undefined) throw new UsageError('--english needs a --domain, such as HR or FIN');
  return { domain, returnAgent, priority };
}

async function openEncoder(invocation: Run) {
  const { json, output, options } = invocation;
  const { now, threshold, strict } = options;
  const model = modelOf(options, (notice) => {
    void output.note(json ? toJson({ notice }) : `${notice.provider}: ${notice.message}`);
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
  // Explaining changes nothing.
  return openRegistry(invocation, { file, create: !explain, otherwise: 'memory' });
}

/** @returns whether it was encoded; a failure has been reported */
async function answer(
  invocation: Run,
  line: Line | null,
  instruction: string,
  { encoder, asked, totals }: { encoder: FallbackEncoder; asked: EncodeOptions; totals: Totals },
): Promise<boolean> {
  try {
    if (invocation.options.explain) {
      await showExplanation(invocation, line, await encoder.explain(instruction, asked));
      return true;
    }
    const result = await encoder.encode(instruction, asked);
    addResult(totals, result);
    await showResult(invocation, line, result);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof FallbackError || thrown instanceof ModelError)) throw thrown;
    // An error of the options, whatever the instruction.
    if (thrown.code === 'bad-request') throw new UsageError(thrown.message.replace(/\.$/, ''));
    addResult(totals, thrown);
    await showRefusal(invocation, line, thrown);
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
  const said = { packet, task, domain, tier, cost, usage, tokens, warnings, explain: explanationData(explain) };
  await output.result(toJson({ line: line?.number, ok: true, ...said }));
}

/** With the replies of the model, which were paid for. */
async function showRefusal(invocation: Run, line: Line | null, error: FallbackError | ModelError): Promise<void> {
  const { json, output } = invocation;
  const replies = error instanceof FallbackError ? error.replies : [];
  if (json) {
    const told = replies.length > 0 ? replies : undefined;
    return output.result(toJson({ line: line?.number, ok: false, error, replies: told }));
  }
  await refuse(invocation, line, withWayOut(error));
  for (const reply of replies) await noteLine(invocation, line, `the model wrote: ${reply}`);
}

/** Help in terms of options: the library names its own. */
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

// Reports

type Totals = ReturnType<typeof emptyTotals>;

/** Costs are known ones, in US dollars; unpriced are calls of unknown price. */
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
  const tokens = `${count(usage.calls, 'call')}, ${usage.inputTokens} tokens read, ${usage.outputTokens} written`;
  await note(`${tier}, ${tier === 'model' ? `${costText(cost)} (${tokens})` : 'free'}: ${explain.text}`);
  for (const adjustment of explain.adjustments) await note(`changed: ${adjustment}`);
  for (const { code, message } of warnings) await note(`warning[${code}]: ${message}`);
}

async function noteTotals({ output }: Run, totals: Totals, instructions: number, refused: number): Promise<void> {
  const { tiers, cost, unpriced } = totals;
  const parts = (Object.keys(tiers) as Tier[]).map((tier) => `${tiers[tier]} from ${WHENCE[tier]}`);
  const unknown = unpriced === 0 ? '' : `, and ${count(unpriced, 'call')} of unknown price`;
  await output.note(
    `${count(instructions, 'instruction')}: ${parts.join(', ')}, ${refused} not encoded; ${dollars(cost)}${unknown}`,
  );
}

const WHENCE: Readonly<Record<Tier, string>> = {
  cache: 'the registry',
  pattern: 'patterns',
  model: 'the model',
};

function costText(cost: number | null): string {
  return cost === null ? 'at an unknown price; --price tells it' : dollars(cost);
}

const HEADS: Readonly<Record<FallbackExplanation['tier'], string>> = {
  cache: 'from the registry',
  pattern: 'from a pattern',
  model: 'from the model',
  none: 'the model would be asked',
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
  const head = tier === 'none' && options.model === undefined ? 'a model would have to be asked' : HEADS[tier];
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
    ['in both', shared],
    ['only in the instruction', extra],
    ['only in the pattern', missing],
    ['slots', values],
  ] as const;
  return [
    `${score.toFixed(2)} ${visible(name)}`,
    `     ${refusal === null ? 'serves' : `refused (${refusal})`}: ${visible(reason)}`,
    ...words.filter(([, list]) => list.length > 0).map(([what, list]) => `     ${what}: ${visible(list.join(', '))}`),
  ];
}

/** Names patterns, without their contents. */
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

// --model, --key-variable and --price

const FORMS = 'anthropic:NAME, openai:NAME, or URL#NAME such as http://127.0.0.1:8080/v1#local';

function modelOf(options: Run['options'], onNotice: (notice: ModelNotice) => void): Model | null {
  const { model: given, price, 'key-variable': variable } = options;
  if (given === undefined) {
    const alien = variable !== undefined ? 'key-variable' : price !== undefined ? 'price' : undefined;
    if (alien !== undefined) throw new UsageError(`--${alien} goes with --model`);
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
  // Addresses may hold a password.
  const shown = given.replace(/\/\/[^/]*@/, '//');
  throw new UsageError(`--model is ${FORMS}; not "${shown}"${near}`);
}

function priceOf(given: string | undefined): ProviderPrice | undefined {
  if (given === undefined) return undefined;
  const [, input, output] = /^([0-9.]+),([0-9.]+)$/.exec(given) ?? [];
  if (Number.isFinite(Number(input)) && Number.isFinite(Number(output)))
    return { input: Number(input), output: Number(output) };
  throw new UsageError(`--price is two amounts of US dollars per million tokens, such as 3,15; not "${given}"`);
}

function keyOf(variable: string | undefined): string | undefined {
  if (variable === undefined) return undefined;
  const key = process.env[variable];
  if (key !== undefined && key !== '') return key;
  throw new UsageError(`--key-variable: the environment has no ${variable}`);
}
