/** Rule libraries from text or data: each rule is checked by itself, and a bad one stops none of the others. */

import { sha256Hex } from '../../text/sha256.js';
import { systemReason } from '../../text/system-reason.js';
import { checkRule, type EncodeStep, type RuleReport, type RuleReportCode, type Tell } from './check-rule.js';
import { libraryOf, type RuleLibrary } from './library.js';
import { isRuleSource, type Rule, RulesError, ruleOf } from './rule.js';

export interface LoadRulesOptions {
  /** The SHA-256 of the text's UTF-8 bytes, 64 hexadecimal digits. Any other text is rejected. */
  readonly sha256?: string | undefined;
  /**
   * Tries the steps that rules name; `null` to accept them untried.
   * @default the workflow encoders that come with pegwire; `null` in `pegwire/aacp/fallback/portable`
   */
  readonly encodeStep?: EncodeStep | null | undefined;
}

/** The most reports about the shape of one rule. */
const MAX_ISSUES = 10;

/** `loadRules`, with the default of `encodeStep`. @throws as `loadRules` */
export function readRules(source: unknown, options: LoadRulesOptions, ownSteps: EncodeStep | null): RuleLibrary {
  const { sha256, encodeStep = ownSteps } = options;
  if (encodeStep !== null && typeof encodeStep !== 'function') throw new TypeError('encodeStep is a function, or null');
  if (sha256 !== undefined) {
    if (typeof source !== 'string') throw new TypeError('sha256 is about a text; these rules were given as data');
    checkPin(new TextEncoder().encode(source), sha256);
  }
  const rules = new Map<string, Rule>();
  const reports: RuleReport[] = [];
  const phrases = new Map<string, string>();
  for (const [index, entry] of entriesOf(source).entries()) {
    const found = collectReports(index, entry);
    const rule = readRule(entry, found.tell);
    if (rule !== null) {
      if (rules.has(rule.id)) found.tell('duplicate-id', 'An earlier rule has this identifier.');
      checkRule(rule, encodeStep, found.tell);
      if (!found.failed()) {
        checkPhrases(rule, phrases, found.tell);
        rules.set(rule.id, rule);
      }
    }
    reports.push(...found.reports);
  }
  return libraryOf([...rules.values()], reports);
}

function collectReports(index: number, entry: unknown) {
  const reports: RuleReport[] = [];
  const id = idOf(entry);
  const tell: Tell = (code: RuleReportCode, message, severity = 'error') => {
    // Several phrases may have the same fault.
    if (reports.some((other) => other.code === code && other.message === message)) return;
    reports.push({ index, id, code, severity, message });
  };
  return { tell, reports, failed: () => reports.some(({ severity }) => severity === 'error') };
}

function readRule(entry: unknown, tell: Tell): Rule | null {
  let issues = 0;
  const fault = (place: string, expected: string): void => {
    if (++issues <= MAX_ISSUES) tell('not-a-rule', `${place}${place === '' ? '' : ': '}${expected}.`);
  };
  return isRuleSource(entry, fault) ? ruleOf(entry) : null;
}

/** Of two rules of a domain with the same phrase, their names would decide which serves. */
function checkPhrases({ id, domain, phrases }: Rule, known: Map<string, string>, tell: Tell): void {
  for (const phrase of phrases) {
    const key = `${domain} ${phrase.toLowerCase().trim().replace(/\s+/g, ' ')}`;
    const other = known.get(key);
    if (other !== undefined && other !== id)
      tell('same-phrase', `The rule ${other} has the phrase "${phrase}", too.`, 'warning');
    known.set(key, other ?? id);
  }
}

function idOf(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'id')) return null;
  const { id } = entry as { readonly id: unknown };
  return typeof id === 'string' ? id.slice(0, 200) : null;
}

export interface LoadRulesFromOptions extends LoadRulesOptions {
  /** The SHA-256 of the file, 64 hexadecimal digits. */
  readonly sha256: string;
  /** @default the platform's */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The most bytes that are read. @default 16777216 */
  readonly maxBytes?: number | undefined;
}

/** `loadRulesFrom`, with the default of `encodeStep`. */
export async function readRulesFrom(
  url: string | URL,
  options: LoadRulesFromOptions,
  ownSteps: EncodeStep | null,
): Promise<RuleLibrary> {
  const { sha256, fetch = globalThis.fetch, signal, maxBytes = 16_777_216, ...rest } = options ?? {};
  const pin = checkedPin(sha256);
  const address = checkedAddress(url);
  if (typeof fetch !== 'function') throw new TypeError('fetch is a function');
  if (!(Number.isInteger(maxBytes) && maxBytes > 0)) throw new TypeError('maxBytes is a whole number above 0');
  const bytes = await load(address, fetch, signal, maxBytes);
  checkPin(bytes, pin);
  return readRules(textOf(bytes), rest, ownSteps);
}

function checkedAddress(url: unknown): URL {
  const address = URL.canParse(String(url)) ? new URL(String(url)) : null;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw new TypeError('url is an address that begins with http: or https:');
}

async function load(
  url: URL,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  try {
    const response = await fetch(url, signal === undefined ? {} : { signal });
    if (!response.ok) throw unavailable(url, `the server answers ${response.status}`);
    return await readBody(response, maxBytes);
  } catch (cause) {
    if (cause instanceof RulesError || signal?.aborted === true) throw cause;
    throw unavailable(url, systemReason(cause), cause);
  }
}

async function readBody({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  // Leaving the loop closes the stream.
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > maxBytes) {
      const message = `The rules have more than ${maxBytes} bytes.`;
      throw new RulesError({ code: 'rules-too-large', message, help: 'raise maxBytes, if that is as it should be' });
    }
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Leaves out the secrets of an address: user, password, query. */
function unavailable(url: URL, why: string, cause?: unknown): RulesError {
  const message = `The rules at ${url.origin}${url.pathname} cannot be loaded: ${why}.`;
  return new RulesError({ code: 'rules-unavailable', message }, { cause });
}

/** Reads a list of rules, or `{ "rules": [...] }`, as plain JSON. */
function entriesOf(source: unknown): readonly unknown[] {
  const data = parsed(typeof source === 'string' ? source : asJson(source));
  if (Array.isArray(data)) return data;
  // Own members only.
  const { rules } = Object.hasOwn(Object(data), 'rules') ? (data as { readonly rules: unknown }) : { rules: null };
  if (Array.isArray(rules)) return rules;
  throw badRules('These are no rules: expected a list of them, or an object with the list as "rules".');
}

function parsed(text: string): unknown {
  try {
    // A byte order mark is no JSON, but files have it.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw badRules('These are no rules: the text is no JSON.', cause);
  }
}

/** Writes a value as JSON: what is read from it has no getters, and no other owner. */
function asJson(value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw badRules('These are no rules: the value cannot be written as JSON.', cause);
  }
  throw badRules(`These are no rules: expected JSON, found ${typeof value}.`);
}

function badRules(message: string, cause?: unknown): RulesError {
  return new RulesError({ code: 'bad-rules', message }, { cause });
}

/** @throws TypeError on what is no SHA-256 */
export function checkedPin(sha256: unknown): string {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)) return sha256.toLowerCase();
  throw new TypeError('sha256 is the SHA-256 of the file, as 64 hexadecimal digits');
}

/** @throws RulesError with code `hash-mismatch`; TypeError on a pin that is none */
export function checkPin(bytes: Uint8Array, sha256: string): void {
  const wanted = checkedPin(sha256);
  const found = sha256Hex(bytes);
  if (found === wanted) return;
  throw new RulesError({
    code: 'hash-mismatch',
    message: `These are other rules than the pinned ones: their SHA-256 is ${found}, not ${wanted}.`,
    help: 'look at what changed before you pin the new hash',
  });
}

/** @throws RulesError with code `bad-rules` on bytes that are no UTF-8 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw badRules('These are no rules: the bytes are no UTF-8.', cause);
  }
}
