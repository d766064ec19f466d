/**
 * Emulations of two other AACP validators: the reference Python SDK 1.4.0 and aacp-ts (both MIT), including their defects. Use them to
 * see which packets are judged differently after a migration. Both reject unknown TASK and DOM values, which the draft forbids
 * (section 5.1), accept a missing `aacp:`, and use the last of two equal keys; the Python SDK regards 1.2 as the current version.
 * `test/conformance/aacp/validator.json` records their answers.
 *
 * The messages are theirs, letter for letter; the lists are copies that belong to these releases. A verdict has at most 100 warnings,
 * followed by one with the number of the rest.
 */
import { MAX_FINDINGS, moreFindings } from './codes.js';

/** A verdict in the form of both SDKs: messages without codes or positions. */
export interface CompatVerdict {
  /** `true` if there are no errors. */
  readonly valid: boolean;
  /** The messages of the errors, in the order of the SDK's checks. */
  readonly errors: readonly string[];
  /** The messages of the warnings. */
  readonly warnings: readonly string[];
}

const TASKS = ['ACK', 'BUILD', 'CALC', 'FETCH', 'FLAG', 'LOG', 'MERGE', 'PROC', 'REPORT', 'RESOLVE', 'SEND', 'SYNC'];
const DOMAINS = ['CS', 'FIN', 'HR', 'IT', 'LEGAL', 'MKT', 'SALES'];
const PRIORITIES = ['1', '2', '3'];
const KNOWN_KEYS: ReadonlySet<string> = new Set(
  (
    'return p aacp res period filter fields fmt src src_prev rules validate tmpl data_ptr amt ccy sup match terms type ' +
    'party clause issue risk block flags req highlight status to subj att flag_msg tone sentiment actor chain prog ltv ' +
    'loyalty urgency'
  ).split(' '),
);

const VALID_TASKS = `Valid: ${TASKS.join(', ')}`;
const VALID_DOMAINS = `Valid: ${DOMAINS.join(', ')}`;
const EMPTY_PACKET = 'Empty packet.';
const SENTIMENT_WITHOUT_TONE =
  'sentiment field present without tone. Add tone:empathetic|formal|terse for human-facing tasks.';
const LTV_WITHOUT_CCY = 'ltv field present without ccy — add currency context.';

/**
 * Returns the answer of `AACPValidator().validate(packet)` of the Python package `aacp` 1.4.0. Values that are not strings are invalid,
 * although the SDK crashes on them; falsy values count as empty packets, as in the SDK.
 */
export function validateAsSdkPy(packet: string): CompatVerdict {
  const slots = readSlots(packet, stripAsPython);
  if (typeof slots === 'string') return refusal(slots);
  if (slots.length < 3) return refusal('Packet too short — minimum: TASK|DOM|...|return:AGENT|p:N|aacp:1.0');
  const [task = '', domain = ''] = slots;

  const errors: string[] = [];
  if (task === '') errors.push('Field 0 (TASK) is empty.');
  else if (!TASKS.includes(task)) errors.push(`Unknown TASK '${task}'. ${VALID_TASKS}`);
  if (domain === '') errors.push('Field 1 (DOM) is empty.');
  else if (!DOMAINS.includes(domain)) errors.push(`Unknown DOM '${domain}'. ${VALID_DOMAINS}`);

  // In this SDK, a key with an empty value counts as present, and slots without a colon are ignored.
  const fields = fieldsOfSdkPy(slots);
  if (!fields.has('return')) errors.push('Missing return: field. Must specify receiving agent.');

  const warnings: string[] = [];
  const version = fields.get('aacp');
  if (version === undefined) warnings.push('Missing aacp: version tag. Add aacp:1.0 for compatibility.');
  else if (version !== '1.2') warnings.push(`AACP version '${version}' — current is 1.2.`);
  const priority = fields.get('p');
  if (priority !== undefined && !PRIORITIES.includes(priority)) {
    warnings.push(`Priority '${priority}' non-standard. Expected 1, 2, or 3.`);
  }
  for (const key of fields.keys()) {
    if (!KNOWN_KEYS.has(key)) warnings.push(`Unknown field '${key}'. May be valid extension.`);
  }
  if (fields.has('sentiment') && !fields.has('tone')) warnings.push(SENTIMENT_WITHOUT_TONE);
  if (fields.has('ltv') && !fields.has('ccy')) warnings.push(LTV_WITHOUT_CCY);
  return { valid: errors.length === 0, errors, warnings: bounded(warnings) };
}

/**
 * Returns the answer of `new AACPValidator().validate(packet)` of aacp-ts 1.3.0. Values that are not strings are invalid, although the
 * SDK crashes on them; falsy values count as empty packets, as in the SDK.
 */
export function validateAsSdkTs(packet: string): CompatVerdict {
  const slots = readSlots(packet, (text) => text.trim());
  if (typeof slots === 'string') return refusal(slots);
  if (slots.length < 3) {
    return refusal(`Packet has ${slots.length} fields. Minimum required: TASK|DOM|return:AGENT|aacp:VERSION`);
  }
  const [task = '', domain = ''] = slots;

  // In this SDK, a key with an empty value counts as absent.
  const warnings: string[] = [];
  const fields = fieldsOfSdkTs(slots, warnings);

  const errors: string[] = [];
  if (task === '') errors.push(`Field 0 (TASK) is empty. ${VALID_TASKS}`);
  else if (!TASKS.includes(task)) errors.push(`Unknown TASK "${task}". ${VALID_TASKS}`);
  if (domain === '') errors.push(`Field 1 (DOM) is empty. ${VALID_DOMAINS}`);
  else if (!DOMAINS.includes(domain)) errors.push(`Unknown DOM "${domain}". ${VALID_DOMAINS}`);
  if (!fields['return']) errors.push('Missing required field: return: (receiving agent identifier)');

  const version = fields['aacp'];
  if (!version) warnings.push('Missing aacp: version field. Expected aacp:1.1');
  else if (version !== '1.1') warnings.push(`AACP version "${version}" — current is 1.1`);
  const priority = fields['p'];
  if (priority && !PRIORITIES.includes(priority)) {
    warnings.push(`Priority "${priority}" non-standard. Expected 1, 2, or 3.`);
  }
  for (const key of Object.keys(fields)) {
    if (KNOWN_KEYS.has(key)) continue;
    warnings.push(`Unknown extended field "${key}". May be a valid extension — ensure receiving agent supports it.`);
  }
  if (fields['sentiment'] && !fields['tone']) warnings.push(SENTIMENT_WITHOUT_TONE);
  if (fields['ltv'] && !fields['ccy']) warnings.push(LTV_WITHOUT_CCY);
  return { valid: errors.length === 0, errors, warnings: bounded(warnings) };
}

function readSlots(packet: unknown, strip: (text: string) => string): string[] | string {
  if (!packet) return EMPTY_PACKET;
  if (typeof packet !== 'string') return `Expected the packet as a string, got ${typeof packet}.`;
  if (strip(packet) === '') return EMPTY_PACKET;
  return packet.split('|').map(strip);
}

/** Limits the warnings. The SDKs list all of them: for a text of empty fields, ten times its length. */
function bounded(warnings: readonly string[]): readonly string[] {
  if (warnings.length <= MAX_FINDINGS) return warnings;
  return [...warnings.slice(0, MAX_FINDINGS), moreFindings(warnings.length - MAX_FINDINGS, 'warning').message];
}

function refusal(error: string): CompatVerdict {
  return { valid: false, errors: [error], warnings: [] };
}

/** Reads fields like a Python `dict`: a repeated key keeps its first position and gets its last value. */
function fieldsOfSdkPy(slots: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const slot of slots.slice(2)) {
    const colon = slot.indexOf(':');
    if (colon === -1) continue;
    fields.set(stripAsPython(slot.slice(0, colon)).toLowerCase(), stripAsPython(slot.slice(colon + 1)));
  }
  return fields;
}

/**
 * Reads fields as aacp-ts does, in an ordinary object: `__proto__` disappears, and keys that look like array indices come first, as in
 * this object without a prototype. White space next to the colon stays.
 */
function fieldsOfSdkTs(slots: readonly string[], warnings: string[]): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null);
  for (const slot of slots.slice(2)) {
    if (slot === '') continue;
    const colon = slot.indexOf(':');
    if (colon === -1) {
      warnings.push(`Field "${slot}" has no colon separator — expected key:value.`);
      continue;
    }
    const key = slot.slice(0, colon).toLowerCase();
    if (key !== '__proto__') fields[key] = slot.slice(colon + 1);
  }
  return fields;
}

/** The white space of Python's `str`: unlike `trim`, it includes U+001C to U+001F and U+0085, and not the byte order mark. */
const PYTHON_SPACES: ReadonlySet<string> = new Set(
  '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680' +
    '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

function stripAsPython(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && PYTHON_SPACES.has(text.charAt(start))) start++;
  while (end > start && PYTHON_SPACES.has(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
