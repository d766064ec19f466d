/**
 * A reader and printer of strict AACP packets (draft-mackay-aacp-01, section 4), written from the draft alone: it
 * splits at the bars and checks each slot. It shares no code with pegwire. `faults.json` plants faults in copies of it.
 */

const MAX_LENGTH = 1_048_576;
const MAX_FIELDS = 100_000;
/** The decimal places of canonical amounts. */
const PLACES = 6;

const NAME = /^[A-Z][A-Z0-9_-]*$/;
const KEY = /^[a-z][a-z0-9_]*$/;
const NUMBER = /^-?[0-9]+(?:\.[0-9]+)?$/;

/** The keys that come first in canonical text, in this order. */
const FIRST_KEYS = ['return', 'p', 'aacp', 'res', 'period', 'filter', 'fields', 'fmt'];

/** Thrown if a text is not a packet. */
class Refused extends Error {
  constructor(message, offset) {
    super(message);
    this.offset = offset;
  }
}

/** Answers one text, in the form of the adapter protocol. */
export function read(text) {
  try {
    const ast = readPacket(text);
    return { ok: true, ast, canonical: printPacket(ast) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ok: false, offset: error.offset, message: error.message };
  }
}

// ---- Reading ----------------------------------------------------------------------------------------------------------

function readPacket(text) {
  if (text.length > MAX_LENGTH) throw new Refused('the text is too long', 0);
  const [task, domain, ...slots] = cut(text);
  if (slots.length > MAX_FIELDS) throw new Refused('too many fields', 0);
  return {
    kind: 'packet',
    task: readName(task, 'task'),
    domain: readName(domain, 'domain'),
    fields: readFields(slots),
  };
}

/** The slots, each with its offset. */
function cut(text) {
  const slots = [];
  let start = 0;
  for (const slot of text.split('|')) {
    slots.push({ slot, start });
    start += slot.length + 1;
  }
  if (slots.length < 2) throw new Refused('there is no domain', text.length);
  return slots;
}

function readName({ slot, start }, what) {
  if (!NAME.test(slot)) throw new Refused(`this is no ${what}: ${slot}`, start);
  return slot;
}

function readFields(slots) {
  const fields = [];
  for (const { slot, start } of slots) {
    if (slot === '') throw new Refused('an empty slot', start);
    fields.push(readField(slot, start));
  }
  return fields;
}

/** Splits key and value at the first colon; the value may contain others. */
function readField(slot, start) {
  const colon = slot.indexOf(':');
  if (colon < 0) throw new Refused('a field without a colon', start);
  const key = slot.slice(0, colon);
  if (!KEY.test(key)) throw new Refused(`this is no key: ${key}`, start);
  return { key, value: readValue(slot.slice(colon + 1), start + colon + 1) };
}

function readValue(value, start) {
  if (value.startsWith(' ')) throw new Refused('a space before the value', start);
  if (value.endsWith(' ')) throw new Refused('a space behind the value', start + value.length - 1);
  for (let at = 0; at < value.length; at++) {
    if (isControl(value.charCodeAt(at))) throw new Refused('a control character', start + at);
  }
  return value;
}

function isControl(unit) {
  return unit < 0x20 || unit === 0x7f;
}

// ---- Printing ---------------------------------------------------------------------------------------------------------

function printPacket({ task, domain, fields }) {
  const ordered = [...fields].sort((a, b) => rank(a.key) - rank(b.key) || compare(a.key, b.key));
  return [task, domain, ...ordered.map(printField)].join('|');
}

function printField({ key, value }) {
  return `${key}:${key === 'amt' ? printAmount(value) : value}`;
}

function rank(key) {
  const index = FIRST_KEYS.indexOf(key);
  return index < 0 ? FIRST_KEYS.length : index;
}

/** Compares by code unit. */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

/** A plain number with at most six places, rounded half to even on the digits; other values unchanged. */
function printAmount(value) {
  if (!NUMBER.test(value)) return value;
  const [whole, fraction = ''] = value.replace('-', '').split('.');
  const rest = fraction.slice(PLACES);
  let scaled = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'));
  if (roundsUp(rest, scaled)) scaled += 1n;
  const digits = String(scaled).padStart(PLACES + 1, '0');
  const places = digits.slice(-PLACES).replace(/0+$/, '');
  const number = digits.slice(0, -PLACES) + (places === '' ? '' : `.${places}`);
  return value.startsWith('-') && scaled !== 0n ? `-${number}` : number;
}

/** Returns `true` if the rest is more than half of the last place, or half of it after an odd digit. */
function roundsUp(rest, kept) {
  const half = rest === '' ? '' : '5'.padEnd(rest.length, '0');
  if (rest === half) return rest !== '' && kept % 2n === 1n;
  return rest > half;
}
