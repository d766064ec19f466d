/** The code around the functions of a scanner: loading the input, starting, and telling failures. */
import type { Alphabet, Kind } from './alphabet.js';
import type { Initializer } from './initializer.js';
import { END } from './symbols.js';

export interface StartRule {
  readonly rule: string;
  /** Names of its two functions. */
  readonly builder: string;
  readonly skipper: string;
}

export interface Runtime {
  readonly alphabet: Alphabet;
  readonly initializer: Initializer;
  readonly tables: string;
  readonly functions: string;
  readonly startRules: readonly StartRule[];
  readonly recognize: boolean;
}

/** Code units of the longest input that is scanned; longer ones are left to Peggy's code. */
const CAPACITY = 1 << 20;

export function runtime({ alphabet, initializer, tables, functions, startRules, recognize }: Runtime): string {
  return `
// The scanner: reads the input as bytes and builds the result, without keeping track of what could have stood where it stops.
// An input that it refuses is scanned once more, without building, for the place of the error. The rest of the error, what
// was expected there, is worked out by the parser below (peg$parseSlow), when somebody asks for it.
const peg$scanner = /* @__PURE__ */ (() => {
  const CAPACITY$ = ${CAPACITY};
  // One symbol per code unit: an ASCII code, from 128 on a kind of other characters, and ${END} behind the last one.
  const bytes$ = new Uint8Array(CAPACITY$ + 1);
  const encoder$ = typeof TextEncoder === "function" ? new TextEncoder() : null;
  const FAILED$ = {};
  const LEAVE$ = {};

  let input = "";
  let options = {};
  let end$ = 0;
  let furthest$ = 0;
  let from$ = 0;
  let to$ = 0;
  let lines$ = null;
  let busy$ = false;

${indent(kindsCode(alphabet.kinds))}

  function tableOf$(sets) {
    const table = new Uint8Array(256);
    sets.forEach((ranges, bit) => {
      for (let i = 0; i < ranges.length; i += 2) {
        for (let symbol = ranges[i]; symbol <= ranges[i + 1]; symbol++) table[symbol] |= 1 << bit;
      }
    });
    return table;
  }

${indent(tables)}

  function load$(text) {
    const { length } = text;
    if (encoder$ === null || encoder$.encodeInto(text, bytes$).written !== length) {
      for (let at = 0; at < length; at++) {
        const unit = text.charCodeAt(at);
        bytes$[at] = unit < 128 ? unit : kindOf$(unit);
      }
    }
    bytes$[length] = ${END};
  }

  // input.charCodeAt(at)
  function codeAt$(at) {
    const symbol = at < input.length ? bytes$[at] : ${END};
    return symbol < 128 ? symbol : input.charCodeAt(at);
  }
${alphabet.surrogates === 0n ? '' : SURROGATE}
${POSITION_CODE}
${initializer.declarations === '' ? '' : `\n${initializer.declarations}\n`}
  function begin$() {
    end$ = 0;
    furthest$ = 0;
${indent(initializer.statements, 4)}
  }

${functions}

  function build$() {
${startSwitch(startRules, ({ builder }) => builder)}
  }

  function skip$() {
${startSwitch(startRules, ({ skipper }) => skipper)}
  }

  // Whether an input can be scanned; one at a time can, and options of Peggy's own are for its own code.
  function open$(text, given) {
    if (busy$ || typeof text !== "string" || text.length > CAPACITY$) return false;
    if (given === undefined) options = {};
    else {
      if (given === null || (given.startRule && !startRules$.includes(given.startRule))) return false;
      if (given.peg$library || given.peg$currPos || given.peg$silentFails || given.peg$maxFailExpected) return false;
      options = given;
    }
    busy$ = true;
    input = text;
    lines$ = null;
    load$(text);
    return true;
  }

  function close$() {
    busy$ = false;
    input = "";
    options = {};
    lines$ = null;
  }

  const startRules$ = [${startRules.map(({ rule }) => `"${rule}"`).join(', ')}];

${FAILURE_CODE}

  function parse$(text, given) {
    if (!open$(text, given)) return peg$parseSlow(text, given);
    let offset = -1;
    try {
      begin$();
      const result = build$();
      if (result !== FAILED$ && end$ === text.length) return result;
      begin$();
      const end = skip$();
      if (end !== text.length) offset = end > furthest$ ? end : furthest$;
    } catch (thrown) {
      if (thrown instanceof peg$SyntaxError) throw thrown;
    } finally {
      close$();
    }
    // Anything else that went wrong, such as a call stack that is too small, is left to Peggy's code.
    if (offset < 0) return peg$parseSlow(text, given);
    throw new Failure$(text, given, offset);
  }
${recognize ? RECOGNIZE_CODE : ''}
  return { parse: parse$${recognize ? ', recognize: recognize$' : ''} };
})();

function peg$parse(input, options) {
  return peg$scanner.parse(input, options);
}
${recognize ? RECOGNIZE_EXPORT : ''}`;
}

const SURROGATE = `
  function isSurrogate$(unit) {
    return unit >= 0xd800 && unit <= 0xdfff;
  }
`;

const POSITION_CODE = `
  function text() {
    return input.substring(from$, to$);
  }

  function offset() {
    return from$;
  }

  function range() {
    return { source: options.grammarSource, start: from$, end: to$ };
  }

  function location() {
    return locationOf$(from$, to$);
  }

  function locationOf$(start, end) {
    return locationIn$((lines$ ??= linesOf$(input)), options.grammarSource, start, end);
  }

  function locationIn$(lines, source, start, end) {
    return { source, start: placeOf$(lines, start), end: placeOf$(lines, end) };
  }

  // Where the lines begin.
  function linesOf$(text) {
    const lines = [0];
    for (let at = text.indexOf("\\n"); at >= 0; at = text.indexOf("\\n", at + 1)) lines.push(at + 1);
    return lines;
  }

  function placeOf$(lines, offset) {
    let low = 0;
    let high = lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (lines[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return { offset, line: low + 1, column: offset - lines[low] + 1 };
  }

  function error(message, location) {
    throw new peg$SyntaxError(message, null, null, location !== undefined ? location : locationOf$(from$, to$));
  }

  function expected(description, location) {
    const expectations = [{ type: "other", description }];
    const found = input.substring(from$, to$);
    const message = peg$SyntaxError.buildMessage(expectations, found);
    throw new peg$SyntaxError(message, expectations, found, location !== undefined ? location : locationOf$(from$, to$));
  }`;

const FAILURE_CODE = `
  // A syntax error that knows where it is, and asks Peggy's code what was expected there when that is read.
  class Failure$ extends SyntaxError {
    #text;
    #options;
    #details;

    static #EXPECTED = {
      get() { return this.#known().expected; },
      set(value) { own$(this, "expected", value, true); },
      enumerable: true,
      configurable: true,
    };

    constructor(text, given, offset) {
      super();
      this.#text = text;
      this.#options = given;
      const isEnd = offset === text.length;
      Object.defineProperty(this, "expected", Failure$.#EXPECTED);
      this.found = isEnd ? null : String.fromCodePoint(text.codePointAt(offset));
      this.location = locationIn$(linesOf$(text), given?.grammarSource, offset, isEnd ? offset : offset + 1);
      this.name = "SyntaxError";
    }

    #known() {
      if (this.#details === undefined) {
        try {
          peg$parseSlow(this.#text, this.#options);
          this.#details = { message: "Unexpected input.", expected: [] };
        } catch (thrown) {
          this.#details = thrown;
        }
      }
      return this.#details;
    }

    get message() { return this.#known().message; }
    set message(value) { own$(this, "message", value, false); }
  }
  Object.setPrototypeOf(Failure$.prototype, peg$SyntaxError.prototype);

  function own$(error, name, value, enumerable) {
    Object.defineProperty(error, name, { value, writable: true, enumerable, configurable: true });
  }`;

const RECOGNIZE_CODE = `
  function recognize$(text, given) {
    let scanned = false;
    if (open$(text, given)) {
      try {
        begin$();
        const end = skip$();
        scanned = true;
        return end === text.length;
      } catch (thrown) {
        if (thrown instanceof peg$SyntaxError) return false;
      } finally {
        close$();
      }
    }
    if (scanned) return false;
    try {
      peg$parseSlow(text, given);
      return true;
    } catch (thrown) {
      if (thrown instanceof peg$SyntaxError) return false;
      throw thrown;
    }
  }
`;

const RECOGNIZE_EXPORT = `
// Whether parse() would accept the input; the same limits and checks, without building the result.
function peg$recognize(input, options) {
  return peg$scanner.recognize(input, options);
}
`;

function startSwitch(startRules: readonly StartRule[], nameOf: (rule: StartRule) => string): string {
  const [first, ...others] = startRules;
  const lines = others.map((start) => `    if (options.startRule === "${start.rule}") return ${nameOf(start)}(0);`);
  return [...lines, `    return ${nameOf(first!)}(0);`].join('\n');
}

/** The kinds of characters beyond ASCII. */
function kindsCode(kinds: readonly Kind[]): string {
  if (kinds.length === 1) return `function kindOf$() {\n  return ${kinds[0]!.symbol};\n}`;
  const ranges = kinds.map(({ from, symbol }) => `${from}, ${symbol}`);
  return `// Where each kind of characters begins, and its symbol.
const kinds$ = [${ranges.join(', ')}];
let kindTable$ = null;

function kindOf$(unit) {
  if (kindTable$ === null) {
    kindTable$ = new Uint8Array(65536);
    for (let i = 0; i < kinds$.length; i += 2) kindTable$.fill(kinds$[i + 1], kinds$[i]);
  }
  return kindTable$[unit];
}`;
}

function indent(code: string, width = 2): string {
  return code.replace(/^(?=.)/gm, ' '.repeat(width));
}
