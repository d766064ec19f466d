/** What there is to say about an encoded instruction, and about all of them, for people. */
import type { FallbackError, FallbackResult, ModelError, Tier } from '../../../aacp/fallback/index.js';
import { noteRequest } from '../../aacp/refusal.js';
import type { Line } from '../../io/input.js';
import type { Invocation } from '../../options/command.js';
import { count } from '../../session/notes.js';

export interface Totals {
  instructions: number;
  refused: number;
  readonly tiers: Record<Tier, number>;
  /** US dollars, as far as they are known. */
  cost: number;
  /** Calls of the model whose price is not known. */
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

/** The tier with its cost, and why; then what somebody should know. */
export async function noteResult(invocation: Invocation, line: Line | null, result: FallbackResult): Promise<void> {
  const { tier, cost, usage, explain, warnings } = result;
  const note = (text: string): Promise<void> => noteRequest(invocation, line, text);
  const tokens = `${count(usage.calls, 'call')}, ${usage.inputTokens} tokens read, ${usage.outputTokens} written`;
  await note(`${tier}, ${tier === 'model' ? `${costText(cost)} (${tokens})` : 'free'}: ${explain.text}`);
  for (const adjustment of explain.adjustments) await note(`changed: ${adjustment}`);
  for (const { code, message } of warnings) await note(`warning[${code}]: ${message}`);
}

export async function noteTotals({ output }: Invocation, totals: Totals): Promise<void> {
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

/** To a thousandth of a cent: a packet mostly costs less than a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && amount < 1 ? 5 : 2)}`;
}
