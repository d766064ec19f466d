/**
 * A reader and printer of strict ACCP frames (draft-benzing-accp-00, sections 3.1 and 3.5), written from the draft
 * alone: a function for each rule. It shares no code with pegwire. `faults.json` plants faults in copies of it.
 */

const MAX_LENGTH = 1_048_576;
const MAX_DEPTH = 5;
const MAX_ITEMS = 100_000;
const MAX_DIGITS = 1_000;
/** The decimal places of canonical numbers. */
const PLACES = 6;

const AGENT_ID = /[A-Za-z0-9_-]+/y;
const INTENT = /[A-Za-z]+/y;
const WORD = /[A-Za-z0-9_]+/y;
const REF_PATH = /[A-Za-z0-9_.]+/y;
const INTEGER = /^-?[0-9]+$/;
const DECIMAL = /^-?[0-9]+\.[0-9]+$/;
const DELIMITERS = '@>:{}[]|$,~\\';

/** The metadata keys in canonical order, and those whose values are identifiers even if they consist of digits. */
const ENVELOPE = ['mid', 'seq', 'ts', 'cid', 'aid', 'sid', 'ttl'];
const IDENTIFIERS = ['mid', 'cid', 'aid', 'sid'];

/** Thrown if a text is not a frame. */
class Refused extends Error {
  constructor(message, offset) {
    super(message);
    this.offset = offset;
  }
}

/** Answers one text, in the form of the adapter protocol. */
export function read(text) {
  try {
    const ast = createReader(text).frame();
    return { ok: true, ast, canonical: printFrame(ast) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ok: false, code: 'E1001', offset: error.offset, message: error.message };
  }
}

// ---- Reading ----------------------------------------------------------------------------------------------------------

function createReader(text) {
  let at = 0;
  let items = 0;

  function refuse(message) {
    throw new Refused(message, at);
  }

  function skip(literal) {
    if (!text.startsWith(literal, at)) refuse(`expected "${literal}"`);
    at += literal.length;
  }

  function take(pattern, what) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) refuse(`expected ${what}`);
    at += found[0].length;
    return found[0];
  }

  function frame() {
    if (text.length > MAX_LENGTH) refuse('the text is too long');
    skip('@');
    const agent = take(AGENT_ID, 'an agent id');
    skip('>');
    const intent = take(INTENT, 'an intent');
    skip(':');
    const operation = take(WORD, 'an operation');
    skip('{');
    const payload = text[at] === '}' ? [] : params('|', 0);
    skip('}');
    const metadata = at < text.length ? metadataBlock() : null;
    if (at < text.length) refuse('expected the end');
    return { kind: 'frame', agent, intent, operation, payload, metadata };
  }

  function metadataBlock() {
    skip('[');
    const pairs = params(',', 0);
    skip(']');
    return pairs;
  }

  /** At least one `key:value`, without repeated keys. */
  function params(separator, depth) {
    const list = [];
    const seen = new Set();
    for (;;) {
      const key = take(WORD, 'a key');
      if (seen.has(key)) refuse(`the key "${key}" appears twice`);
      seen.add(key);
      skip(':');
      list.push({ key, value: value(depth) });
      countItem();
      if (text[at] !== separator) return list;
      at++;
    }
  }

  /** `depth` counts the brackets around the value. */
  function value(depth) {
    switch (text[at]) {
      case '[':
        return array(enter(depth));
      case '{':
        return map(enter(depth));
      case '$':
        at++;
        return { kind: 'ref', path: take(REF_PATH, 'a reference path') };
      case '~':
        at++;
        return { kind: 'null' };
      default:
        return literal();
    }
  }

  function enter(depth) {
    if (depth + 1 > MAX_DEPTH) refuse('nesting is too deep');
    at++;
    return depth + 1;
  }

  function array(depth) {
    const list = [];
    if (text[at] !== ']') {
      list.push(value(depth));
      countItem();
      while (text[at] === ',') {
        at++;
        list.push(value(depth));
        countItem();
      }
    }
    skip(']');
    return { kind: 'array', items: list };
  }

  function map(depth) {
    const entries = text[at] === '}' ? [] : params(',', depth);
    skip('}');
    return { kind: 'map', entries };
  }

  function countItem() {
    if (++items > MAX_ITEMS) refuse('too many items');
  }

  /** A boolean, number or string, decided by the whole lexeme. */
  function literal() {
    const start = at;
    const plain = lexeme();
    const source = text.slice(start, at);
    if (source === '') refuse('expected a value');
    if (source === 'true' || source === 'false') return { kind: 'boolean', value: source === 'true' };
    if (INTEGER.test(source)) return integer(source);
    if (DECIMAL.test(source)) return decimal(source);
    return { kind: 'string', value: plain };
  }

  /** The text without the backslashes of its escapes. */
  function lexeme() {
    let plain = '';
    for (;;) {
      const character = text[at];
      if (character === '\\') {
        if (!isDelimiter(text[at + 1])) refuse('a backslash stands only before a delimiter');
        plain += text[at + 1];
        at += 2;
      } else if (isSafe(character)) {
        plain += character;
        at++;
      } else return plain;
    }
  }

  function integer(source) {
    checkDigits(source);
    const number = Number(source);
    return { kind: 'integer', value: Number.isSafeInteger(number) ? number : String(BigInt(source)), text: source };
  }

  function decimal(source) {
    checkDigits(source);
    const number = Number(source);
    return { kind: 'decimal', value: Number.isFinite(number) ? number : String(number), text: source };
  }

  function checkDigits(source) {
    if (source.replace(/[-.]/g, '').length > MAX_DIGITS) refuse('the number has too many digits');
  }

  return { frame };
}

function isDelimiter(character) {
  return character !== undefined && DELIMITERS.includes(character);
}

/** Visible ASCII that needs no escape. */
function isSafe(character) {
  return character > ' ' && character < '\x7f' && !isDelimiter(character);
}

// ---- Printing ---------------------------------------------------------------------------------------------------------

function printFrame({ agent, intent, operation, payload, metadata }) {
  const head = `@${agent}>${intent}:${operation}`;
  const body = payload.map(({ key, value }) => `${key}:${printValue(value)}`).join('|');
  return `${head}{${body}}${metadata === null ? '' : `[${printMetadata(metadata)}]`}`;
}

function printMetadata(pairs) {
  return [...pairs]
    .sort((a, b) => rank(a.key) - rank(b.key) || compare(a.key, b.key))
    .map(
      ({ key, value }) => `${key}:${IDENTIFIERS.includes(key) ? (value.text ?? printValue(value)) : printValue(value)}`,
    )
    .join(',');
}

function rank(key) {
  const index = ENVELOPE.indexOf(key);
  return index < 0 ? ENVELOPE.length : index;
}

/** Compares by code unit. */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

function printValue(node) {
  switch (node.kind) {
    case 'integer':
      return String(BigInt(node.text));
    case 'decimal':
      return printDecimal(node.text);
    case 'boolean':
      return String(node.value);
    case 'null':
      return '~';
    case 'ref':
      return `$${node.path}`;
    case 'array':
      return `[${node.items.map(printValue).join(',')}]`;
    case 'map': {
      const entries = [...node.entries].sort((a, b) => compare(a.key, b.key));
      return `{${entries.map(({ key, value }) => `${key}:${printValue(value)}`).join(',')}}`;
    }
    default:
      return [...node.value].map((character) => (isDelimiter(character) ? `\\${character}` : character)).join('');
  }
}

/** At most six places, rounded half to even on the digits; at least one; no negative zero. */
function printDecimal(source) {
  const [whole, fraction] = source.replace('-', '').split('.');
  const cut = fraction.slice(PLACES);
  let scaled = BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'));
  if (roundsUp(cut, scaled)) scaled += 1n;
  const digits = String(scaled).padStart(PLACES + 1, '0');
  const places = digits.slice(-PLACES).replace(/0+$/, '') || '0';
  const number = `${digits.slice(0, -PLACES)}.${places}`;
  return source.startsWith('-') && scaled !== 0n ? `-${number}` : number;
}

/** Returns `true` if the rest is more than half of the last place, or half of it after an odd digit. */
function roundsUp(cut, kept) {
  const half = cut === '' ? '' : '5'.padEnd(cut.length, '0');
  if (cut === half) return cut !== '' && kept % 2n === 1n;
  return cut > half;
}
