/** Tier 3: the model, and one round of repair (draft-mackay-aacp-01, section 6.2). */

import type { Field, Packet } from '../ast.js';
import { lintPacket } from '../lint/lint.js';
import type { GrammarNotation, Model, ModelReply, ModelRequest, ModelUsage } from '../models/model.js';
import { abortError, ModelError, unlessAborted } from '../models/model.js';
import { repairPrompt, systemPrompt, userPrompt } from '../models/prompt.js';
import { readReply } from '../models/read-reply.js';
import { tryParsePacket } from '../parse.js';
import { printPacket } from '../print.js';
import type { RegistryRequest } from '../registry/registry.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lowerAscii, TASKS, VERSION } from '../vocabulary.js';
import { FallbackError } from './errors.js';
import type { FallbackRequest } from './request.js';
import { type FallbackWarning, unstatedWarnings, warningOf } from './result.js';

/** An instruction that is known, and its packet: an example for the model. */
export interface Hint {
  readonly instruction: string;
  readonly packet: string;
}

/** Makes the grammar of the packets that a request allows, for providers that constrain what is written. */
export type PacketGrammar = (
  request: Pick<FallbackRequest, 'domain' | 'returnAgent' | 'priority'>,
  notation: GrammarNotation,
) => Promise<string>;

/** A packet that was paid for. */
export interface ModelPacket {
  readonly packet: string;
  readonly cost: number | null;
  readonly usage: ModelUsage & { readonly calls: number };
  readonly model: string | null;
  readonly adjustments: readonly string[];
  readonly warnings: readonly FallbackWarning[];
}

/** Most tokens of a reply: several times those of a long packet. */
const MAX_TOKENS = 512;

/**
 * Asks for a packet, and a second time when the first reply holds no valid one.
 *
 * @param strict refuses values that the instruction does not state
 * @throws ModelError when the first call gets no answer; FallbackError with all that was written and what it cost otherwise
 */
export async function askModel(
  model: Model,
  request: FallbackRequest,
  hints: readonly Hint[],
  signal: AbortSignal,
  strict: boolean,
  grammar: PacketGrammar,
): Promise<ModelPacket> {
  const paid = createBill();
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
  const first = await paid.call(model, question);
  const judged = judgeReply(first, request);
  if (judged.ok) return { ...paid.total(), ...judged };

  const prompt = repairPrompt(first.text, judged.faults);
  const second = await paid.call(model, { ...question, repair: { reply: first.text, prompt } });
  const repaired = judgeReply(second, request);
  if (repaired.ok) return { ...paid.total(), ...repaired };
  const [unstated] = repaired.faults;
  if (repaired.faults.every(({ code }) => code === 'unstated-value')) {
    throw paid.failure('unstated-value', `The model added to the instruction twice: ${unstated!.message}`);
  }
  throw paid.failure(
    'invalid-reply',
    `The model gave no valid packet, also when it was told what is wrong: ${repaired.faults[0]!.message}`,
  );

  function judgeReply(reply: ModelReply, asked: FallbackRequest): Judged {
    if (reply.finish === 'refusal') throw paid.failure('model-refused', 'The model declined to answer.');
    // What is cut off may look whole: the last value need not be.
    if (reply.finish === 'length') {
      return { ok: false, faults: [{ code: 'cut-off', message: `The reply was cut off after ${MAX_TOKENS} tokens.` }] };
    }
    const read = readReply(reply.text);
    if (!('packet' in read)) return { ok: false, faults: [{ code: read.problem, message: read.message }] };
    const result = judgePacket(read.packet, asked);
    if (!result.ok) return result;
    const unstated = unstatedWarnings(result.packet, asked.instruction, asked.now);
    if (strict && unstated.length > 0) return { ok: false, faults: unstated };
    const warnings = [...result.warnings, ...lintPacket(result.packet)].map(warningOf);
    return { ...result, warnings: [...warnings, ...unstated] };
  }
}

type Judged =
  | (Pick<ModelPacket, 'packet' | 'adjustments' | 'warnings'> & { readonly ok: true })
  | { readonly ok: false; readonly faults: readonly PacketFault[] };

/** All calls of one encoding, with what they cost. */
interface Bill {
  readonly call: (model: Model, request: ModelRequest) => Promise<ModelReply>;
  readonly total: () => Pick<ModelPacket, 'cost' | 'usage' | 'model'>;
  readonly failure: (
    code: 'invalid-reply' | 'model-refused' | 'unstated-value',
    message: string,
    cause?: unknown,
  ) => FallbackError;
}

function createBill(): Bill {
  const replies: ModelReply[] = [];

  function total(): Pick<ModelPacket, 'cost' | 'usage' | 'model'> {
    const costs = replies.map(({ cost }) => cost ?? null);
    const sum = (of: (usage: ModelUsage) => number): number =>
      replies.reduce((all, { usage }) => all + (usage === undefined ? 0 : of(usage)), 0);
    return {
      // One call of unknown price makes the sum unknown.
      cost: costs.includes(null) ? null : costs.reduce<number>((all, cost) => all + cost!, 0),
      usage: {
        calls: replies.length,
        inputTokens: sum(({ inputTokens }) => inputTokens),
        outputTokens: sum(({ outputTokens }) => outputTokens),
      },
      model: replies.at(-1)?.model ?? null,
    };
  }

  function failure(
    code: 'invalid-reply' | 'model-refused' | 'unstated-value',
    message: string,
    cause?: unknown,
  ): FallbackError {
    const error = new FallbackError({ code, message }, { ...total(), replies: replies.map(({ text }) => text) });
    if (cause !== undefined) error.cause = cause;
    return error;
  }

  return {
    total,
    failure,
    async call(model, request) {
      try {
        const reply = checkedReply(
          await unlessAborted(request.signal, async (signal) => model({ ...request, signal })),
        );
        replies.push(reply);
        return reply;
      } catch (thrown) {
        const error = modelError(thrown, request.signal);
        if (replies.length === 0) throw error;
        throw failure(
          'invalid-reply',
          `The reply held no valid packet, and the repair failed: ${error.message}`,
          error,
        );
      }
    },
  };
}

/** The reply of a host's own function may be anything: its text alone will do, and what is no price or count is not known. */
function checkedReply(reply: unknown): ModelReply {
  if (typeof reply === 'string') return { text: reply };
  const { text, usage, model, cost, finish } = (reply ?? {}) as { readonly [name in keyof ModelReply]: unknown };
  if (typeof text !== 'string') {
    throw new ModelError({
      code: 'model-bad-reply',
      message: 'The model function has to give a text, or { text: string }, with what the model wrote.',
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

/** A price or a count: 0 or more. */
function amountOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY ? value : null;
}

function modelError(thrown: unknown, signal: AbortSignal): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const cause = { cause: thrown };
  if (signal.aborted) return abortError(signal);
  const told = thrown instanceof Error ? thrown.message : String(thrown);
  return new ModelError({ code: 'model-unavailable', message: `The model could not be asked: ${told}` }, cause);
}

/** A fault of a model's packet, as it is told to the model. */
interface PacketFault {
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
}

type JudgedPacket =
  | {
      readonly ok: true;
      readonly packet: string;
      readonly adjustments: readonly string[];
      readonly warnings: readonly PacketDiagnostic[];
    }
  | { readonly ok: false; readonly faults: readonly PacketFault[] };

/** The fields that the request and the protocol decide, at the head of each packet. */
const HEAD = ['return', 'p', 'aacp'] as const;

/**
 * Judges a packet that a model wrote. Who gets the result, how urgent it is and the version are not the model's to say: they
 * are set, and what was changed is told. All else has to be right as it stands.
 */
function judgePacket(text: string, request: RegistryRequest): JudgedPacket {
  const read = tryParsePacket(text, { dialect: 'tolerant' });
  if (!read.ok) return { ok: false, faults: [{ code: read.error.code, message: read.error.message }] };
  const { packet, adjustments } = withHead(read.value, request);
  const faults: PacketFault[] = [...wordFaults(packet, request)];
  const verdict = validatePacket(packet);
  faults.push(...verdict.errors.map(faultOf));
  if (faults.length > 0) return { ok: false, faults };
  try {
    return { ok: true, packet: printPacket(packet), adjustments, warnings: verdict.warnings };
  } catch (thrown) {
    return { ok: false, faults: [{ code: 'unprintable', message: (thrown as Error).message }] };
  }
}

function withHead(packet: Packet, request: RegistryRequest): { packet: Packet; adjustments: readonly string[] } {
  const wanted = { return: request.returnAgent, p: request.priority, aacp: VERSION };
  const fields: readonly Field[] = packet.fields.map((field) => ({ ...field, key: lowerAscii(field.key) }));
  const adjustments: string[] = [];
  for (const key of HEAD) {
    const values = fields.filter((field) => field.key === key && !field.bare).map(({ value }) => value);
    if (values.length === 0) adjustments.push(`${key} was missing`);
    else if (values.some((value) => value !== wanted[key])) {
      adjustments.push(`${key} was ${values.map((value) => JSON.stringify(value.slice(0, 40))).join(', ')}`);
    }
  }
  const others = fields.filter(({ key, bare }) => bare || !HEAD.some((one) => one === key));
  const head = HEAD.map((key) => ({ key, value: wanted[key] }));
  return { packet: { ...packet, fields: [...head, ...others] }, adjustments };
}

/** The draft lets private words pass; a model that makes one up has misunderstood. */
function* wordFaults({ task, domain }: Packet, request: RegistryRequest): Iterable<PacketFault> {
  if (task !== '' && !Object.hasOwn(TASKS, task)) {
    yield {
      code: 'unknown-task',
      message: `${JSON.stringify(task.slice(0, 40))} is no TASK.`,
      help: Object.keys(TASKS).join(', '),
    };
  }
  if (domain !== '' && domain !== request.domain) {
    const found = JSON.stringify(domain.slice(0, 40));
    yield { code: 'other-domain', message: `The DOM is ${found}, and ${request.domain} was asked for.` };
  }
}

function faultOf({ code, message, help }: PacketDiagnostic): PacketFault {
  return { code, message, help };
}
