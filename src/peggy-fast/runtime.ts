import { type Alphabet, END, type Kind } from './alphabet.js';
import { POSITION_FUNCTIONS } from './effects/purity.js';
import { entries, INTRODUCTION, indent, newError, type StartRule, scans, startSwitch } from './failures.js';
import type { Initializer } from './initializer.js';
import type { Expectation } from './ir.js';
import { CODE_AT } from './names.js';

interface Runtime {
  readonly alphabet: Alphabet;
  readonly initializer: Initializer;
  readonly tables: string;
  readonly functions: string;
  readonly startRules: readonly StartRule[];
  readonly expectations: readonly Expectation[];
  readonly given: ReadonlySet<string>;
  /** `true` if code only reads members of the options. */
  readonly keepsOptions: boolean;
  readonly catches: boolean;
  readonly recognize: boolean;
  readonly tryParse: boolean;
  readonly library: boolean;
  readonly readsMatched: boolean;
}

/** Bytes after the longest input: the end mark, and the bytes that are read together with it. */
const MARGIN = 16;
/** Code units of the longest input that the shared scanner reads. */
const CAPACITY = 1 << 20;

export function runtime(parts: Runtime): string {
  const { alphabet, initializer, tables, functions, startRules, recognize, tryParse, readsMatched } = parts;
  const decides = functions.includes('log$[');
  const setsPlace = initializer.references.some((name) => POSITION_FUNCTIONS.has(name));
  const usesCodes = `${functions}${initializer.declarations}${initializer.statements}`.includes(CODE_AT);
  const usesWords = functions.includes('wordAt$(');
  const many = asksForPlaces(parts);
  const forgetLines = many ? '\n    lines$ = null;' : '';
  const usesRuns = tables.includes('const ends0$');
  const escapes = functions.includes('escaped$(');
  return `
${INTRODUCTION}
const peg$makeScanner = (capacity$) => {
${initializer.declarations}

${functions}

  // The parts that all scanners share.

  const FAILED$ = {};
  const NO_OPTIONS$ = Object.freeze({});

  // One symbol per code unit: an ASCII code, a number >= 128 for a kind of other characters, and ${END} after the last one.
  const bytes$ = new Uint8Array(capacity$ + ${MARGIN});
  const encoder$ = globalThis.TextEncoder && new TextEncoder();

${indent(tables)}

  // Variables are declared with \`var\`: for \`let\`, each function would check that they have been initialized.
  var input = "";
  var length$ = 0;
  var options = NO_OPTIONS$;
  var source$;${startRules.length > 1 ? '\n  var rule$;' : ''}
  var end$ = 0;
  var furthest$ = 0;
  var from$ = 0;
  var to$ = 0;
  var busy$ = false;${tryParse ? '\n  var quiet$ = false;' : ''}${escapes ? '\n  var ascii$ = true;' : ''}${many ? '\n  var lines$ = null;' : ''}${decides ? DECISIONS : ''}

${indent(kindsCode(alphabet.kinds))}

  function load$(text) {
    const { length } = text;${
      escapes
        ? `
    ascii$ = true;`
        : ''
    }
    if (!encoder$ || encoder$.encodeInto(text, bytes$).written !== length) {${
      escapes
        ? `
      ascii$ = false;`
        : ''
    }
      for (let at = 0; at < length; at++) {
        const unit = text.charCodeAt(at);
        bytes$[at] = unit < 128 ? unit : ${alphabet.kinds.length === 1 ? alphabet.kinds[0]!.symbol : 'kindOf$(unit)'};
      }
    }
    bytes$[length] = ${END};
  }

${usesRuns || functions.includes('view$.') || usesWords ? VIEW : ''}${usesRuns ? RUN_END : ''}${usesWords ? WORDS : ''}${escapes ? ESCAPED : ''}
${usesCodes ? (readsMatched ? MATCHED_CODE_AT : CODE_AT_FUNCTION) : ''}
${functions.includes('pointWidth$(') ? POINT_WIDTH : ''}
${givenFunctions(parts)}

  function begin$() {
    end$ = 0;${decides ? '\n    decided$ = 0;' : ''}${setsPlace ? '\n    from$ = to$ = 0;' : ''}
${indent(initializer.statements, 4)}
  }

  function build$(at) {
${startSwitch(startRules, ({ builder }) => builder)}
  }

${recognize ? `  function skip$(at) {\n${startSwitch(startRules, ({ skipper }) => skipper)}\n  }\n` : ''}
  function open$(text, given) {
    busy$ = true;
    input = text;
    length$ = text.length;
    options = given === undefined ? ${parts.keepsOptions ? 'NO_OPTIONS$' : '{}'} : given;
    source$ = options.grammarSource;${startRules.length > 1 ? '\n    rule$ = options.startRule;' : ''}
    load$(text);${forgetLines}
  }

  function close$() {
    busy$ = false;${tryParse ? '\n    quiet$ = false;' : ''}
    input = "";
    length$ = 0;
    options = NO_OPTIONS$;${decides ? '\n    if (log$.length > 4096) log$.length = 0;' : ''}${forgetLines}
  }
${scans(parts, decides)}
};

${many ? MANY_PLACES : PLACES}

function peg$tableOf(sets) {
  const table = new Uint8Array(256);
  sets.forEach((ranges, bit) => {
    for (let i = 0; i < ranges.length; i += 2) {
      for (let symbol = ranges[i]; symbol <= ranges[i + 1]; symbol++) table[symbol] |= 1 << bit;
    }
  });
  return table;
}
${usesRuns ? ENDS_OF : ''}
const peg$scanner = /* @__PURE__ */ peg$makeScanner(${CAPACITY});

${entries(parts)}`;
}

const CODE_AT_FUNCTION = `
  // input.charCodeAt(at)
  function codeAt$(at) {
    const symbol = bytes$[at];
    return symbol < 128 && at < length$ ? symbol : input.charCodeAt(at);
  }
`;

const MATCHED_CODE_AT = `
  // input.charCodeAt(at), for matched characters
  function codeAt$(at) {
    return bytes$[at];
  }
`;

const VIEW = `
  const view$ = new DataView(bytes$.buffer);
`;

const RUN_END = `
  // Finds the end of the run that begins at \`at\`, two symbols at a time.
  function runEnd$(ends, at) {
    for (;;) {
      const four = view$.getInt32(at, true);
      const first = ends[four & 0xffff];
      if (first !== 0) return at + first - 1;
      const second = ends[four >>> 16];
      if (second !== 0) return at + second + 1;
      at += 4;
    }
  }
`;

const WORDS = `
  // Interned words of up to eight symbols, each identified by its symbols as two numbers.
  const words$ = new Array(1024).fill("");
  const wordStarts$ = new Int32Array(1024);
  const wordEnds$ = new Int32Array(1024);
  // The bits of the two numbers that a word of each length has. Tests of the length would often be mispredicted.
  const masks$ = Int32Array.of(0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1);

  function wordAt$(start, end) {
    const length = end - start;
    if (length > 8) return input.substring(start, end);
    const first = view$.getInt32(start, true) & masks$[length];
    const second = view$.getInt32(start + 4, true) & masks$[length + 9];
    const slot = Math.imul(first ^ Math.imul(second, 0x9e3779b1), 0x9e3779b1) >>> 22;
    if (wordStarts$[slot] === first && wordEnds$[slot] === second) return words$[slot];
    wordStarts$[slot] = first;
    wordEnds$[slot] = second;
    return (words$[slot] = input.substring(start, end));
  }
`;

/** The average length of stretches between escapes from which slices are faster than copies of characters. */
const LONG_STRETCH = 8;
/** The characters that are read before the first look at it. */
const FIRST_LOOK = 24;
/** The number of characters after which the average is looked at again, and the number that can be collected. */
const STEP = 64;
const COLLECTED = 512;
/** The characters that one call makes a string of; a decoder is faster for more than a few of them. */
const CALLED = 10;
const FEW = 40;

const ESCAPED = `
  const characters$ = new Uint8Array(${COLLECTED + CALLED});
  const copies$ = new DataView(characters$.buffer);
  const views$ = [];
  const decoder$ = globalThis.TextDecoder && new TextDecoder();

  // Reads a text with escapes, and returns it without them. The table has 1 for characters that stand for themselves, 2 for the
  // escape character, 4 for characters that can follow it; \`ends\` is for runs of the first.
  function escaped$(table, ends, at) {
    let text = "";
    if (ascii$) {
      // The start of the characters that are collected.
      let start = at;
      let length = 0;
      for (let limit = ${FIRST_LOOK}; ; limit += ${STEP}) {
        while (length < limit) {
          const four = view$.getInt32(at, true);
          // Also copies what follows a run, which the next characters replace.
          copies$.setInt32(length, four, true);
          const first = ends[four & 0xffff];
          const second = first === 0 ? ends[four >>> 16] : 0;
          const run = first !== 0 ? first - 1 : second !== 0 ? second + 1 : 4;
          at += run;
          length += run;
          if (run === 4) continue;
          const symbol = bytes$[at + 1];
          if ((table[bytes$[at]] & 2) === 0 || (table[symbol] & 4) === 0) {
            end$ = at;
            return text + collected$(length);
          }
          characters$[length++] = symbol;
          at += 2;
        }
        if ((at - start - length) * ${LONG_STRETCH} < length) {
          // Few escapes: slices from here, or from the start if nothing was collected before.
          if (limit > ${FIRST_LOOK}) text += collected$(length);
          else at = start;
          break;
        }
        if (limit > ${COLLECTED - STEP}) {
          text += collected$(length);
          start = at;
          length = limit = 0;
        }
      }
    }
    for (let from = at; ; at += 2) {
      at = runEnd$(ends, at);
      text += input.substring(from, at);
      if ((table[bytes$[at]] & 2) === 0 || (table[bytes$[at + 1]] & 4) === 0) {
        end$ = at;
        return text;
      }
      from = at + 1;
    }
  }

  function collected$(length) {
    if (length > ${FEW} && decoder$) return decoder$.decode((views$[length] ??= characters$.subarray(0, length)));
    let text = "";
    for (let at = 0; at < length; at += ${CALLED}) {
      text += String.fromCharCode(
        ${Array.from({ length: CALLED }, (_, index) => `characters$[at + ${index}]`).join(', ')},
      ).slice(0, length - at);
    }
    return text;
  }
`;

const ENDS_OF = `
// For each pair of symbols, the first one in the low half: the number of the first one that is not in a set, or 0.
function peg$endsOf(ranges) {
  const set = peg$tableOf([ranges]);
  const rows = [2, 0].map((second) => set.map((first) => (first === 1 ? second : 1)));
  const ends = new Uint8Array(65536);
  set.forEach((second, symbol) => ends.set(rows[second], 256 * symbol));
  return ends;
}
`;

const DECISIONS = `
  // Decisions of the code of the grammar in the first scan, and the number of decisions so far.
  const log$ = [];
  var decided$ = 0;`;

const POINT_WIDTH = `
  // The width of the code point at \`at\`, or 0 if it does not match. Other code units than surrogates have been compared.
  function pointWidth$(pattern, at) {
    const unit = input.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) return 1;
    const point = String.fromCodePoint(input.codePointAt(at));
    return pattern.test(point) ? point.length : 0;
  }
`;

/** The functions that Peggy provides for code, if they are mentioned and not inlined everywhere. */
function givenFunctions(parts: Runtime): string {
  const { given, functions: rules, initializer, tryParse } = parts;
  const written = `${rules}${initializer.declarations}${initializer.statements}`;
  // An escape such as `\u0074ext` hides the name.
  const hasEscapes = written.includes('\\u');
  const isMentioned = (name: string): boolean =>
    given.has(name) && (hasEscapes || new RegExp(`\\b${name}\\b`).test(written));
  const needsLocation = written.includes('locationOf$(') || ['location', 'error', 'expected'].some(isMentioned);
  const functions = Object.entries(GIVEN).filter(
    ([name]) => isMentioned(name) || (name === 'locationOf$' && needsLocation),
  );
  const codes = functions.map(([name, code]) => {
    if (name === 'locationOf$' && asksForPlaces(parts)) return LOCATION_AMONG_MANY;
    return code.replace(newError(false), newError(tryParse));
  });
  return codes.map((code) => indent(code)).join('\n\n');
}

const GIVEN: Readonly<Record<string, string>> = {
  text: `function text() {
  return input.substring(from$, to$);
}`,
  offset: `function offset() {
  return from$;
}`,
  range: `function range() {
  return { source: source$, start: from$, end: to$ };
}`,
  location: `function location() {
  return locationOf$(from$, to$);
}`,
  locationOf$: `function locationOf$(start, end) {
  return peg$locationIn(input, source$, start, end);
}`,
  error: `function error(message, location = locationOf$(from$, to$)) {
  throw new peg$SyntaxError(message, null, null, location);
}`,
  expected: `function expected(description, location = locationOf$(from$, to$)) {
  const expectations = [{ type: "other", description }];
  const found = input.substring(from$, to$);
  const message = peg$SyntaxError.buildMessage(expectations, found);
  throw new peg$SyntaxError(message, expectations, found, location);
}`,
};

const LOCATION_AMONG_MANY = `function locationOf$(start, end) {
  return peg$locationIn(input, source$, start, end, (lines$ ??= peg$linesOf(input)));
}`;

/** Returns `true` if code may ask for the location of each match, even by an error that does not end the parse. */
function asksForPlaces({ given, catches }: Runtime): boolean {
  return given.has('location') || (catches && (given.has('error') || given.has('expected')));
}

const PLACES = `// Lines and columns count from 1.
function peg$placeOf(text, offset) {
  let line = 1;
  let start = 0;
  for (let at; (at = text.indexOf("\\n", start)) >= 0 && at < offset; start = at + 1) line++;
  return { offset, line, column: offset - start + 1 };
}

function peg$locationIn(text, source, start, end) {
  return { source, start: peg$placeOf(text, start), end: peg$placeOf(text, end) };
}`;

/** The same for grammars that may ask for many locations in one text: the starts of its lines are computed once. */
const MANY_PLACES = `// The offsets at which the lines of a text begin.
function peg$linesOf(text) {
  const lines = [0];
  for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n", at + 1)) lines.push(at + 1);
  return lines;
}

// Lines and columns count from 1.
function peg$placeOf(lines, offset) {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return { offset, line: low + 1, column: offset - lines[low] + 1 };
}

function peg$locationIn(text, source, start, end, lines = peg$linesOf(text)) {
  return { source, start: peg$placeOf(lines, start), end: peg$placeOf(lines, end) };
}`;

function kindsCode(kinds: readonly Kind[]): string {
  if (kinds.length === 1) return '';
  const ranges = kinds.map(({ from, symbol }) => `${from}, ${symbol}`);
  return `// The first code unit of each kind of characters, and its symbol.
const kinds$ = [${ranges.join(', ')}];
var kindTable$ = null;

function kindOf$(unit) {
  if (kindTable$ === null) {
    kindTable$ = new Uint8Array(65536);
    for (let i = 0; i < kinds$.length; i += 2) kindTable$.fill(kinds$[i + 1], kinds$[i]);
  }
  return kindTable$[unit];
}`;
}
