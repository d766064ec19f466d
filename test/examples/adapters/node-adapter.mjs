/**
 * An adapter for Node: reads requests from stdin, one JSON document a line, asks a parser, and answers each with a line.
 *
 *     npx pegwire conformance aacp --target 'node node-adapter.mjs'
 *
 * To test your own parser, put it in the place of `readPacket`, and say in `answerTo` what it says.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';

// ---- The parser under test: a small reader of strict AACP packets. Yours goes here. ----------------------------------

/** What a reader throws at a text that is no packet. `offset` counts UTF-16 code units, as JavaScript's strings do. */
class Refused extends Error {
  constructor(code, offset) {
    super(`${code} at ${offset}`);
    this.code = code;
    this.offset = offset;
  }
}

function readPacket(text) {
  if (text === '') throw new Refused('empty-packet', 0);
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
  if (slot === '') throw new Refused(`missing-${what}`, start);
  refuseFirst(slot, start, /^[^A-Z]|[^A-Z0-9_-]/, `bad-${what}`);
  return slot;
}

function readField({ slot, start }) {
  if (slot === '') throw new Refused('empty-field', start);
  if (isBlank(slot[0])) throw new Refused('whitespace', start);
  const colon = slot.indexOf(':');
  if (colon < 0) throw new Refused('malformed-field', start);
  if (colon === 0) throw new Refused('empty-key', start);
  const key = slot.slice(0, colon);
  refuseFirst(key, start, /^[^a-z]|[^a-z0-9_]/, 'bad-key');
  const value = slot.slice(colon + 1);
  const valueStart = start + colon + 1;
  if (isBlank(value[0])) throw new Refused('whitespace', valueStart);
  let end = value.length;
  while (isBlank(value[end - 1])) end--;
  for (let at = 0; at < end; at++) {
    const unit = value.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) throw new Refused('control-character', valueStart + at);
  }
  if (end < value.length) throw new Refused('whitespace', valueStart + end);
  return { key, value };
}

/** Refuses a token at its first character that `bad` matches; blanks have a code of their own. */
function refuseFirst(token, start, bad, code) {
  const at = token.search(bad);
  if (at >= 0) throw new Refused(isBlank(token[at]) ? 'whitespace' : code, start + at);
}

function isBlank(character) {
  return character !== undefined && ' \t\r\n'.includes(character);
}

// ---- The adapter ------------------------------------------------------------------------------------------------------

/** What is answered to one text. All members but `ok` may be left out: what is not there is not judged. */
function answerTo({ input }) {
  // `dialect` is "strict" or "tolerant" (for ACCP: "lenient"); a parser that knows only strict may ignore it.
  try {
    return { ok: true, ast: readPacket(input) };
  } catch (error) {
    // Only what your parser throws on purpose. Anything else should end the adapter: it is a crash, and reported as one.
    if (!(error instanceof Refused)) throw error;
    return { ok: false, code: error.code, offset: error.offset, message: error.message };
  }
}

/** Numbers that JSON would change are strings: big integers their digits, infinities their names. */
function asJson(value) {
  return JSON.stringify(value, (_key, member) => {
    if (typeof member === 'bigint') return String(member);
    return member === Infinity || member === -Infinity ? String(member) : member;
  });
}

// Nothing else may be written to stdout: diagnostics go to stderr (console.error). The input's end is the adapter's end.
createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  process.stdout.write(`${asJson(answerTo(JSON.parse(line)))}\n`);
});
