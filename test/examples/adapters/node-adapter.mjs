/**
 * An adapter for Node: reads requests from stdin, one JSON document per line, and answers each with a line on stdout.
 *
 *     npx pegwire conformance aacp --target 'node node-adapter.mjs'
 *
 * To test your own parser, replace `readPacket` with it, and convert its result in `answerTo`.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';

// ---- The parser under test: a small reader of strict AACP packets. Replace it. ---------------------------------------

/** Thrown if a text is not a packet. `offset` counts UTF-16 code units, as JavaScript strings do. */
class Rejected extends Error {
  constructor(code, offset) {
    super(`${code} at ${offset}`);
    this.code = code;
    this.offset = offset;
  }
}

function readPacket(text) {
  if (text === '') throw new Rejected('empty-packet', 0);
  const slots = [];
  let start = 0;
  for (const slot of text.split('|')) {
    slots.push({ slot, start });
    start += slot.length + 1;
  }
  const [task, domain = { slot: '', start: text.length }, ...fields] = slots;
  return {
    kind: 'packet',
    task: readName(task, 'task'),
    domain: readName(domain, 'dom'),
    fields: fields.map(readField),
  };
}

function readName({ slot, start }, what) {
  if (slot === '') throw new Rejected(`missing-${what}`, start);
  rejectFirst(slot, start, /^[^A-Z]|[^A-Z0-9_-]/, `bad-${what}`);
  return slot;
}

function readField({ slot, start }) {
  if (slot === '') throw new Rejected('empty-field', start);
  if (isBlank(slot[0])) throw new Rejected('whitespace', start);
  const colon = slot.indexOf(':');
  if (colon < 0) throw new Rejected('malformed-field', start);
  if (colon === 0) throw new Rejected('empty-key', start);
  const key = slot.slice(0, colon);
  rejectFirst(key, start, /^[^a-z]|[^a-z0-9_]/, 'bad-key');
  const value = slot.slice(colon + 1);
  const valueStart = start + colon + 1;
  if (isBlank(value[0])) throw new Rejected('whitespace', valueStart);
  let end = value.length;
  while (isBlank(value[end - 1])) end--;
  for (let at = 0; at < end; at++) {
    const unit = value.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) throw new Rejected('control-character', valueStart + at);
  }
  if (end < value.length) throw new Rejected('whitespace', valueStart + end);
  return { key, value };
}

/** Rejects a token at its first character that `bad` matches; blanks have a code of their own. */
function rejectFirst(token, start, bad, code) {
  const at = token.search(bad);
  if (at >= 0) throw new Rejected(isBlank(token[at]) ? 'whitespace' : code, start + at);
}

function isBlank(character) {
  return character !== undefined && ' \t\r\n'.includes(character);
}

// ---- The adapter ------------------------------------------------------------------------------------------------------

/** Builds the answer to one request. All members except `ok` may be absent; absent members are not compared. */
function answerTo({ input }) {
  // `dialect` is "strict" or "tolerant" (for ACCP: "lenient"); a parser that supports only strict may ignore it.
  try {
    return { ok: true, ast: readPacket(input) };
  } catch (error) {
    // Only errors that your parser throws on purpose. Any other error should end the adapter: it is a crash, and reported as one.
    if (!(error instanceof Rejected)) throw error;
    return { ok: false, code: error.code, offset: error.offset, message: error.message };
  }
}

/** Converts numbers that JSON cannot express to strings: big integers and infinities. */
function asJson(value) {
  return JSON.stringify(value, (_key, member) => {
    if (typeof member === 'bigint') return String(member);
    return member === Infinity || member === -Infinity ? String(member) : member;
  });
}

// Write nothing else to stdout; use stderr (console.error) for diagnostics. The adapter ends when its input ends.
createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  process.stdout.write(`${asJson(answerTo(JSON.parse(line)))}\n`);
});
