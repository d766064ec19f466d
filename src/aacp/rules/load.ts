/** Reads rule libraries from text or data. Each rule is checked separately; invalid ones do not affect the others. */

import { abortableBody } from '../../async/abort.js';
import { sha256Hex } from '../../text/sha256.js';
import { systemReason } from '../../text/system-reason.js';
import { checkRule, type EncodeStep, type ReportFunction, type RuleReport, type RuleReportCode } from './check-rule.js';
import { libraryOf, type RuleLibrary } from './library.js';
import { isRuleSource, type Rule, RulesError, ruleOf } from './rule.js';

/** Options of `loadRules` and `loadRulesFile`. */
export interface LoadRulesOptions {
  /** The expected SHA-256 of the UTF-8 text, as 64 hexadecimal digits. A text with another hash is rejected. @default none */
  readonly sha256?: string | undefined;
  /**
   * Encodes the steps that rules name, to check them; `null` to accept them without a check.
   * @default `encodeStep` of `pegwire/aacp/encoders`; in `pegwire/aacp/fallback/portable`, `null`
   */
  readonly encodeStep?: EncodeStep | null | undefined;
}

/** The maximum number of reports about the shape of one rule. */
const MAX_ISSUES = 10;

/** Implements `loadRules`. @param ownSteps the default of `encodeStep` @throws RulesError, TypeError as `loadRules` does */
export function readRules(source: unknown, options: LoadRulesOptions, ownSteps: EncodeStep | null): RuleLibrary {
  const { sha256, encodeStep = ownSteps } = options;
  if (encodeStep !== null && typeof encodeStep !== 'function')
    throw new TypeError('encodeStep must be a function or null');
  if (sha256 !== undefined) {
    if (typeof source !== 'string') throw new TypeError('sha256 requires a text; the rules were passed as data');
    checkPin(new TextEncoder().encode(source), sha256);
  }
  const rules = new Map<string, Rule>();
  const reports: RuleReport[] = [];
  const phrases = new Map<string, string>();
  for (const [index, entry] of entriesOf(source).entries()) {
    const found = collectReports(index, entry);
    const rule = readRule(entry, found.report);
    if (rule !== null) {
      if (rules.has(rule.id)) found.report('duplicate-id', 'An earlier rule has the same id.');
      checkRule(rule, encodeStep, found.report);
      if (!found.failed()) {
        checkPhrases(rule, phrases, found.report);
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
  const report: ReportFunction = (code: RuleReportCode, message, severity = 'error') => {
    // Several phrases may have the same fault.
    if (reports.some((other) => other.code === code && other.message === message)) return;
    reports.push({ index, id, code, severity, message });
  };
  return { report, reports, failed: () => reports.some(({ severity }) => severity === 'error') };
}

function readRule(entry: unknown, report: ReportFunction): Rule | null {
  let issues = 0;
  const fault = (place: string, expected: string): void => {
    if (++issues <= MAX_ISSUES) report('not-a-rule', `${place}${place === '' ? '' : ': '}${expected}.`);
  };
  return isRuleSource(entry, fault) ? ruleOf(entry) : null;
}

/** Reports phrases that another rule of the domain has: the order of their names would decide which rule matches. */
function checkPhrases({ id, domain, phrases }: Rule, known: Map<string, string>, report: ReportFunction): void {
  for (const phrase of phrases) {
    const key = `${domain} ${phrase.toLowerCase().trim().replace(/\s+/g, ' ')}`;
    const other = known.get(key);
    if (other !== undefined && other !== id)
      report('same-phrase', `The rule ${other} has the same phrase "${phrase}".`, 'warning');
    known.set(key, other ?? id);
  }
}

function idOf(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null || !Object.hasOwn(entry, 'id')) return null;
  const { id } = entry as { readonly id: unknown };
  return typeof id === 'string' ? id.slice(0, 200) : null;
}

/** Options of `fetchRules`. */
export interface FetchRulesOptions extends LoadRulesOptions {
  /** The expected SHA-256 of the file, as 64 hexadecimal digits. */
  readonly sha256: string;
  /** The function that loads the file. @default `globalThis.fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Aborts loading. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum size of the file in bytes. @default 16777216 */
  readonly maxBytes?: number | undefined;
}

/** Implements `fetchRules`. @param ownSteps the default of `encodeStep` */
export async function readRulesFromUrl(
  url: string | URL,
  options: FetchRulesOptions,
  ownSteps: EncodeStep | null,
): Promise<RuleLibrary> {
  const { sha256, fetch = globalThis.fetch, signal, maxBytes = 16_777_216, ...rest } = options ?? {};
  const pin = checkedPin(sha256);
  const address = checkedAddress(url);
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function');
  if (!(Number.isInteger(maxBytes) && maxBytes > 0)) throw new TypeError('maxBytes must be a positive integer');
  const bytes = await load(address, fetch, signal, maxBytes);
  checkPin(bytes, pin);
  return readRules(textOf(bytes), rest, ownSteps);
}

function checkedAddress(url: unknown): URL {
  const address = URL.canParse(String(url)) ? new URL(String(url)) : null;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw new TypeError('url must be an http or https URL');
}

async function load(
  url: URL,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  try {
    const response = await fetch(url, signal === undefined ? {} : { signal });
    if (!response.ok) throw unavailable(url, `the server replied with status ${response.status}`);
    return await readBody(abortableBody(response.body, signal), maxBytes);
  } catch (cause) {
    if (cause instanceof RulesError || signal?.aborted === true) throw cause;
    throw unavailable(url, systemReason(cause), cause);
  }
}

async function readBody(body: ReadableStream<Uint8Array<ArrayBuffer>> | null, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  // Leaving the loop closes the stream.
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > maxBytes) {
      const message = `The rules have more than ${maxBytes} bytes.`;
      throw new RulesError({ code: 'rules-too-large', message, help: 'increase maxBytes if the size is correct' });
    }
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Makes the error of a failed load. Omits the secrets of a URL: user, password, query. */
function unavailable(url: URL, why: string, cause?: unknown): RulesError {
  const message = `The rules at ${url.origin}${url.pathname} cannot be loaded: ${why}.`;
  return new RulesError({ code: 'rules-unavailable', message }, { cause });
}

/** Returns the list of rules, as plain JSON. */
function entriesOf(source: unknown): readonly unknown[] {
  const data = parsed(typeof source === 'string' ? source : asJson(source));
  if (Array.isArray(data)) return data;
  // Own members only.
  const { rules } = Object.hasOwn(Object(data), 'rules') ? (data as { readonly rules: unknown }) : { rules: null };
  if (Array.isArray(rules)) return rules;
  throw badRules('The rules must be a list, or an object with a list as "rules".');
}

function parsed(text: string): unknown {
  try {
    // A byte order mark is not JSON, but files may contain it.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw badRules('The rules are not valid JSON.', cause);
  }
}

/** Serializes a value as JSON: the parsed copy has no getters, and cannot be changed by the caller. */
function asJson(value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (cause) {
    throw badRules('The rules cannot be serialized as JSON.', cause);
  }
  throw badRules(`The rules must be JSON; got ${typeof value}.`);
}

function badRules(message: string, cause?: unknown): RulesError {
  return new RulesError({ code: 'bad-rules', message }, { cause });
}

/** Checks the form of a SHA-256. @throws TypeError if it is invalid */
export function checkedPin(sha256: unknown): string {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)) return sha256.toLowerCase();
  throw new TypeError('sha256 must be the SHA-256 of the file, as 64 hexadecimal digits');
}

/** Compares the SHA-256 of a file. @throws RulesError with code `hash-mismatch`; TypeError if `sha256` is invalid */
export function checkPin(bytes: Uint8Array, sha256: string): void {
  const expected = checkedPin(sha256);
  const found = sha256Hex(bytes);
  if (found === expected) return;
  throw new RulesError({
    code: 'hash-mismatch',
    message: `The rules have the SHA-256 ${found} instead of the expected ${expected}.`,
    help: 'check the changes before you use the new hash',
  });
}

/** Decodes UTF-8. @throws RulesError with code `bad-rules` if the bytes are not UTF-8 */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw badRules('The rules are not valid UTF-8.', cause);
  }
}
