/** Tier 3: calls the model, with at most one request for a correction (draft-mackay-aacp-01, section 6.2). */

import type { Field, Packet } from '../ast.js';
import { lintPacket } from '../lint/lint.js';
import type { GrammarNotation, Model, ModelReply, ModelRequest, ModelUsage } from '../models/model.js';
import { abortError, ModelError, unlessAborted } from '../models/model.js';
import { type Finding, type Hint, repairPrompt, systemPrompt, userPrompt } from '../models/prompt.js';
import { readReply } from '../models/read-reply.js';
import { tryParsePacket } from '../parse.js';
import { printPacket } from '../print.js';
import type { RegistryRequest } from '../registry/registry.js';
import { validatePacket } from '../validate.js';
import { lowerAscii, TASKS, VERSION } from '../vocabulary.js';
import { FallbackError } from './errors.js';
import type { FallbackRequest } from './request.js';
import { type FallbackWarning, unstatedWarnings, warningOf } from './result.js';

/** Makes the grammar of the packets that a request allows, for providers that constrain the output. */
export type PacketGrammar = (
  request: Pick<FallbackRequest, 'domain' | 'returnAgent' | 'priority'>,
  notation: GrammarNotation,
) => Promise<string>;

/** A packet that a model wrote. */
export interface ModelPacket {
  readonly packet: string;
  readonly cost: number | null;
  readonly usage: ModelUsage & { readonly calls: number };
  readonly model: string | null;
  readonly adjustments: readonly string[];
  readonly warnings: readonly FallbackWarning[];
}

/** The maximum number of tokens of a reply: several times the length of a long packet. */
const MAX_TOKENS = 512;

/**
 * Asks the model for a packet, and a second time if the first reply contains no valid one.
 *
 * @param strict rejects values that the instruction does not state
 * @throws ModelError if the first call fails; otherwise FallbackError, with all replies and their cost
 */
export async function callModel(
  model: Model,
  request: FallbackRequest,
  hints: readonly Hint[],
  signal: AbortSignal,
  strict: boolean,
  grammar: PacketGrammar,
): Promise<ModelPacket> {
  const calls = new ModelCalls();
  const question: ModelRequest = {
    instruction: request.instruction,
    domain: request.domain,
    returnAgent: request.returnAgent,
    priority: request.priority,
    system: systemPrompt(),
    prompt: userPrompt({ ...request, today: new Date(request.now), hints }),
    repair: null,
    grammar: (notation) => grammar(request, notation),
    maxTokens: MAX_TOKENS,
    signal,
  };
  const first = await calls.call(model, question);
  const checked = checkReply(first);
  if (checked.ok) return { ...calls.total(), ...checked };

  const prompt = repairPrompt(first.text, checked.faults);
  const second = await calls.call(model, { ...question, repair: { reply: first.text, prompt } });
  const repaired = checkReply(second);
  if (repaired.ok) return { ...calls.total(), ...repaired };
  const [fault] = repaired.faults;
  if (repaired.faults.every(({ code }) => code === 'unstated-value')) {
    throw calls.error('unstated-value', `Both replies of the model add to the instruction: ${fault!.message}`);
  }
  throw calls.error('invalid-reply', `Neither reply of the model contains a valid packet: ${fault!.message}`);

  function checkReply(reply: ModelReply): CheckedReply {
    if (reply.finish === 'refusal') throw calls.error('model-refused', 'The model declined to answer.');
    // A reply that was cut off may look complete: its last value need not be.
    if (reply.finish === 'length') {
      return { ok: false, faults: [{ code: 'cut-off', message: `The reply was cut off after ${MAX_TOKENS} tokens.` }] };
    }
    const read = readReply(reply.text);
    if (!('packet' in read)) return { ok: false, faults: [{ code: read.problem, message: read.message }] };
    const result = checkPacket(read.packet, request);
    if (!result.ok) return result;
    const unstated = unstatedWarnings(result.packet, request.instruction, request.now);
    if (strict && unstated.length > 0) return { ok: false, faults: unstated };
    return { ...result, warnings: [...result.warnings, ...lintPacket(result.packet).map(warningOf), ...unstated] };
  }
}

type CheckedReply =
  | (Pick<ModelPacket, 'packet' | 'adjustments' | 'warnings'> & { readonly ok: true })
  | { readonly ok: false; readonly faults: readonly Finding[] };

type PaidError = 'invalid-reply' | 'model-refused' | 'unstated-value';

/** The calls of one encoding, with their cost. */
class ModelCalls {
  readonly #replies: ModelReply[] = [];

  total(): Pick<ModelPacket, 'cost' | 'usage' | 'model'> {
    const costs = this.#replies.map(({ cost }) => cost ?? null);
    const usage = { calls: this.#replies.length, inputTokens: 0, outputTokens: 0 };
    for (const reply of this.#replies) {
      usage.inputTokens += reply.usage?.inputTokens ?? 0;
      usage.outputTokens += reply.usage?.outputTokens ?? 0;
    }
    // One call of unknown price makes the sum unknown.
    const cost = costs.includes(null) ? null : costs.reduce<number>((all, one) => all + one!, 0);
    return { cost, usage, model: this.#replies.at(-1)?.model ?? null };
  }

  error(code: PaidError, message: string, cause?: unknown): FallbackError {
    const replies = this.#replies.map(({ text }) => text);
    const error = new FallbackError({ code, message }, { ...this.total(), replies });
    if (cause !== undefined) error.cause = cause;
    return error;
  }

  async call(model: Model, request: ModelRequest): Promise<ModelReply> {
    try {
      const reply = checkedReply(await unlessAborted(request.signal, async (signal) => model({ ...request, signal })));
      this.#replies.push(reply);
      return reply;
    } catch (thrown) {
      const error = modelError(thrown, request.signal);
      if (this.#replies.length === 0) throw error;
      const message = `The first reply contained no valid packet, and the second call failed: ${error.message}`;
      throw this.error('invalid-reply', message, error);
    }
  }
}

/** Checks the reply of a model function. A plain string is enough; an invalid price or count becomes unknown. */
function checkedReply(reply: unknown): ModelReply {
  if (typeof reply === 'string') return { text: reply };
  const { text, usage, model, cost, finish } = (reply ?? {}) as { readonly [name in keyof ModelReply]: unknown };
  if (typeof text !== 'string') {
    throw new ModelError({
      code: 'model-bad-reply',
      message: 'A model function must return a string, or { text: string }, with the output of the model.',
    });
  }
  const { inputTokens, outputTokens } = (usage ?? {}) as { readonly [name in keyof ModelUsage]: unknown };
  return {
    text,
    usage: { inputTokens: amountOf(inputTokens) ?? 0, outputTokens: amountOf(outputTokens) ?? 0 },
    cost: amountOf(cost),
    model: typeof model === 'string' ? model : undefined,
    finish: finish === 'length' || finish === 'refusal' ? finish : 'stop',
  };
}

function amountOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : null;
}

function modelError(thrown: unknown, signal: AbortSignal): ModelError {
  if (thrown instanceof ModelError) return thrown;
  if (signal.aborted) return abortError(signal);
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new ModelError(
    { code: 'model-unavailable', message: `The call of the model failed: ${reason}` },
    { cause: thrown },
  );
}

/** The fields at the head of each packet, which the request and the protocol determine. */
const HEAD = ['return', 'p', 'aacp'] as const;

/**
 * Checks a packet that a model wrote. The request determines the receiver, the priority and the version: these fields are set, and changes
 * are reported.
 */
function checkPacket(text: string, request: RegistryRequest): CheckedReply {
  const read = tryParsePacket(text, { dialect: 'tolerant' });
  if (!read.ok) return { ok: false, faults: [{ code: read.error.code, message: read.error.message }] };
  const { packet, adjustments } = withHead(read.value, request);
  const verdict = validatePacket(packet);
  const faults = [...wordFaults(packet, request), ...verdict.errors];
  if (faults.length > 0) return { ok: false, faults };
  try {
    return { ok: true, packet: printPacket(packet), adjustments, warnings: verdict.warnings.map(warningOf) };
  } catch (thrown) {
    return { ok: false, faults: [{ code: 'unprintable', message: (thrown as Error).message }] };
  }
}

function withHead(packet: Packet, request: RegistryRequest): { packet: Packet; adjustments: readonly string[] } {
  const expected = { return: request.returnAgent, p: request.priority, aacp: VERSION };
  const fields: readonly Field[] = packet.fields.map((field) => ({ ...field, key: lowerAscii(field.key) }));
  const adjustments: string[] = [];
  for (const key of HEAD) {
    const values = fields.filter((field) => field.key === key && !field.bare).map(({ value }) => value);
    if (values.length === 0) adjustments.push(`${key} was missing`);
    else if (values.some((value) => value !== expected[key])) {
      adjustments.push(`${key} was ${values.map((value) => JSON.stringify(value.slice(0, 40))).join(', ')}`);
    }
  }
  const others = fields.filter(({ key, bare }) => bare || !HEAD.some((one) => one === key));
  const head = HEAD.map((key) => ({ key, value: expected[key] }));
  return { packet: { ...packet, fields: [...head, ...others] }, adjustments };
}

/** Reports unknown words. The draft allows them, but in the packet of a model they are mistakes. */
function* wordFaults({ task, domain }: Packet, request: RegistryRequest): Iterable<Finding> {
  if (task !== '' && !Object.hasOwn(TASKS, task)) {
    const message = `${JSON.stringify(task.slice(0, 40))} is not a TASK.`;
    yield { code: 'unknown-task', message, help: Object.keys(TASKS).join(', ') };
  }
  if (domain !== '' && domain !== request.domain) {
    const found = JSON.stringify(domain.slice(0, 40));
    yield { code: 'other-domain', message: `The DOM is ${found}; the request is for ${request.domain}.` };
  }
}
