/** Requests to the fallback encoder. */

import { memoize } from '../../text/memoize.js';
import { nearest } from '../../text/suggest.js';
import { anyText } from '../../text/visible.js';
import { checkedValue } from '../build/values.js';
import { anchoredForm, relativeUnit } from '../matching/instruction/calendar.js';
import { MAX_INSTRUCTION, normaliseInstruction, registryKey } from '../matching/instruction/normalise.js';
import type { RegistryRequest } from '../registry/registry.js';
import { PRIORITIES, VERSION } from '../vocabulary.js';
import { FallbackError } from './errors.js';

/** Options of one encoding. */
export interface EncodeOptions {
  /** The DOM of the packet: `HR`. Upper or lower case. */
  readonly domain: string;
  /** The agent that receives the result. @default the usual one of the domain: `HR-Agent`, for LEGAL `LEG-Agent` */
  readonly returnAgent?: string | undefined;
  /** The priority: 1 is critical, 2 medium, 3 low (section 5.3). @default 2 */
  readonly priority?: 1 | 2 | 3 | '1' | '2' | '3' | undefined;
  /** Aborts waiting. A call that other callers wait for continues. */
  readonly signal?: AbortSignal | undefined;
}

export interface FallbackRequest extends RegistryRequest {
  readonly instruction: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly key: string;
}

/** The number of instructions that are memoized, and their maximum length. */
const MAX_READINGS = 1000;
const MAX_READ = 2000;

/**
 * Creates a reader of requests that memoizes instructions: normalising one takes longer than finding its packet.
 *
 * @throws FallbackError if an instruction, domain, agent or priority cannot be written in a packet; TypeError if the signal is invalid
 */
export function requestReader(): (instruction: unknown, options: EncodeOptions, now: number) => FallbackRequest {
  const read = memoize(readInstruction, MAX_READINGS, MAX_READ);

  return (instruction, options, now) => {
    const text = checkedInstruction(instruction);
    checkNames(options);
    const domain = checkedDomain(options?.domain);
    const returnAgent = checkedAgent(options.returnAgent ?? usualAgent(domain));
    const priority = checkedPriority(options.priority ?? 2);
    checkSignal(options.signal);
    const { normalised: plain, unit } = read(text);
    // `trim` also removes a byte order mark, which the normal form keeps.
    if (plain.trim() === '')
      throw new FallbackError({ code: 'empty-instruction', message: 'The instruction is empty.' });
    const normalised = anchoredForm(plain, unit, now);
    const keyed = { normalised, domain, returnAgent, priority, version: VERSION };
    return { ...keyed, instruction: text, now, key: registryKey(keyed) };
  };
}

function readInstruction(instruction: string) {
  return { normalised: normaliseInstruction(instruction), unit: relativeUnit(instruction) };
}

const NAMES = ['domain', 'returnAgent', 'priority', 'signal'];

/** Rejects misspelt option names: the packet would name another agent. Other members are allowed, for the application's own use. */
function checkNames(options: EncodeOptions): void {
  for (const name in options) {
    if (NAMES.includes(name)) continue;
    const meant = nearest(name.replaceAll('_', ''), NAMES);
    if (meant !== undefined) throw new TypeError(`unknown option ${name}; did you mean ${meant}?`);
  }
}

function checkedInstruction(instruction: unknown): string {
  if (typeof instruction !== 'string') {
    throw new FallbackError({
      code: 'not-an-instruction',
      message: `An instruction must be a string; got ${instruction === null ? 'null' : typeof instruction}.`,
    });
  }
  if (instruction.length > MAX_INSTRUCTION) {
    throw new FallbackError({
      code: 'instruction-too-long',
      message: `The instruction has ${instruction.length} characters; at most ${MAX_INSTRUCTION} are allowed.`,
      help: 'shorten it: store data elsewhere, and refer to it by a pointer',
    });
  }
  return instruction;
}

function checkedDomain(domain: unknown): string {
  // Tested first, since some other letters become A to Z in upper case.
  if (typeof domain === 'string' && /^[A-Za-z][A-Za-z0-9_-]*$/.test(domain)) return domain.toUpperCase();
  throw badRequest('domain', domain, 'a word of letters, digits, "_" and "-", such as HR or FIN');
}

function checkedAgent(agent: unknown): string {
  if (typeof agent !== 'string') throw badRequest('returnAgent', agent, 'a string');
  try {
    return checkedValue(agent, 'returnAgent');
  } catch (cause) {
    const error = new FallbackError({ code: 'bad-request', message: (cause as Error).message });
    error.cause = cause;
    throw error;
  }
}

function checkedPriority(priority: unknown): string {
  const text = anyText(priority);
  if (Object.hasOwn(PRIORITIES, text)) return text;
  throw badRequest('priority', priority, '1, 2 or 3');
}

function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener } = (signal ?? {}) as { readonly [name in keyof AbortSignal]?: unknown };
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return;
  throw new TypeError('signal must be an AbortSignal');
}

function badRequest(name: string, value: unknown, expected: string): FallbackError {
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : anyText(value).slice(0, 40);
  return new FallbackError({ code: 'bad-request', message: `${name}: ${shown} is not ${expected}.` });
}

/** Returns the agent of a domain, as in the reference SDK. */
function usualAgent(domain: string): string {
  return domain === 'LEGAL' ? 'LEG-Agent' : `${domain}-Agent`;
}
