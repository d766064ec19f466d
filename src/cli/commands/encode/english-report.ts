/** What is shown of encoded instructions: results and totals for people, explanations for `--explain`. */
import type {
  Candidate,
  FallbackError,
  FallbackExplanation,
  FallbackResult,
  ModelError,
  Tier,
} from '../../../aacp/fallback/index.js';
import { quoted, visible } from '../../../text/visible.js';
import type { Line } from '../../io/input.js';
import { toJson } from '../../io/json.js';
import { count, noteLine } from '../../io/report.js';
import type { Invocation } from '../../options/command.js';
import { dollars } from '../aacp/open-registry.js';
import type { ENCODE_OPTIONS } from './options.js';

type Run = Invocation<typeof ENCODE_OPTIONS>;

export interface Totals {
  instructions: number;
  refused: number;
  readonly tiers: Record<Tier, number>;
  /** Known costs, in US dollars. */
  cost: number;
  /** Calls of unknown price. */
  unpriced: number;
}

export function emptyTotals(): Totals {
  return { instructions: 0, refused: 0, tiers: { cache: 0, pattern: 0, model: 0 }, cost: 0, unpriced: 0 };
}

export function addResult(totals: Totals, result: FallbackResult | FallbackError | ModelError): void {
  if ('tier' in result) totals.tiers[result.tier]++;
  if (!('usage' in result)) return;
  totals.cost += result.cost ?? 0;
  totals.unpriced += result.cost === null ? result.usage.calls : 0;
}

export async function noteResult(invocation: Run, line: Line | null, result: FallbackResult): Promise<void> {
  const { tier, cost, usage, explain, warnings } = result;
  const note = (text: string): Promise<void> => noteLine(invocation, line, text);
  const tokens = `${count(usage.calls, 'call')}, ${usage.inputTokens} tokens read, ${usage.outputTokens} written`;
  await note(`${tier}, ${tier === 'model' ? `${costText(cost)} (${tokens})` : 'free'}: ${explain.text}`);
  for (const adjustment of explain.adjustments) await note(`changed: ${adjustment}`);
  for (const { code, message } of warnings) await note(`warning[${code}]: ${message}`);
}

export async function noteTotals({ output }: Run, totals: Totals): Promise<void> {
  const { instructions, refused, tiers, cost, unpriced } = totals;
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

export async function showExplanation(
  { json, output, options }: Run,
  line: Line | null,
  explanation: FallbackExplanation,
): Promise<void> {
  if (json) {
    const place = line === null ? {} : { line: line.number };
    await output.result(toJson({ ...place, ok: true, explain: explanationData(explanation) }));
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
export function explanationData(explanation: FallbackExplanation): object {
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
