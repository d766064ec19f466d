/**
 * The errors of a generated parser: their class, and the two ways to find the expectations: Peggy's own parser, or
 * functions of the scanner.
 */

import type { Expectation } from './ir.js';

interface Errors {
  readonly introduction: string;
  readonly inside: (recognize: boolean) => string;
  readonly outside: (recognize: boolean) => string;
}

export function peggyErrors(startRules: readonly StartRule[]): Errors {
  const names = startRules.map(({ rule }) => JSON.stringify(rule)).join(', ');
  return {
    introduction: `// The scanner reads the input as bytes and builds the result, without recording failures. It scans an input that it rejects
// again, without building, for the place of the error. The expectations there are found by Peggy's own parser below
// (peg$parseSlow), when they are first read.`,
    inside: (recognize) => `
  const startRules$ = [${names}];

  // A scanner reads one input at a time. Peggy's internal options require its own code.
  function canScan$(text, given) {
    if (busy$ || typeof text !== "string" || text.length > capacity$) return false;
    if (given === undefined) return true;
    if (given === null || (given.startRule && !startRules$.includes(given.startRule))) return false;
    return !(given.peg$library || given.peg$currPos || given.peg$silentFails || given.peg$maxFailExpected);
  }

  function parse$(text, given) {
    if (!canScan$(text, given)) return peg$parseSlow(text, given);
    let offset = -1;
    open$(text, given);
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
    // Other errors, such as a stack overflow, are left to Peggy's code.
    if (offset < 0) return peg$parseSlow(text, given);
    throw new peg$Failure(text, given, offset);
  }
${recognize ? RECOGNIZE_OR_SLOW : ''}
  return { parse: parse$${recognize ? ', recognize: recognize$' : ''} };`,
    outside: (recognize) => `${failureClass(`
      try {
        peg$parseSlow(this.#text, this.#options);
      } catch (thrown) {
        if (thrown instanceof peg$SyntaxError) return thrown;
      }
      return { message: "Unexpected input.", expected: [] };`)}
${INHERIT}
${exported(recognize)}`,
  };
}

export function standaloneErrors(startRules: readonly StartRule[], expectations: readonly Expectation[]): Errors {
  const names = startRules.map(({ rule }) => `"${rule}"`).join(', ');
  const list = expectations.map((one) => `    ${JSON.stringify(one)},`).join('\n');
  return {
    introduction: `// The scanner reads the input as bytes and builds the result, without recording failures. It scans an input that it rejects
// again, for the furthest place that was reached and the expectations there. So a rule has up to three functions: rule$build,
// rule$skip (which builds nothing), and rule$expect.`,
    inside: (recognize) => `
  const startRules$ = [${names}];

  // Creates another scanner for a nested parse, or for an input that is too long.
  function scannerFor$(text, given) {
    if (typeof text !== "string") throw new TypeError("Not a string");
    const rule = given?.startRule;
    if (rule && !startRules$.includes(rule)) throw new Error(\`Can't start parsing from rule "\${rule}".\`);
    return busy$ || text.length > capacity$ ? peg$makeScanner(text.length) : null;
  }

  function parse$(text, given) {
    const other = scannerFor$(text, given);
    if (other !== null) return other.parse(text, given);
    open$(text, given);
    try {
      begin$();
      const result = build$();
      if (result !== FAILED$ && end$ === length$) return result;
      throw failure$();
    } finally {
      close$();
    }
  }
${recognize ? RECOGNIZE : ''}
  const expectations$ = [
${list}
  ];
  // The numbers of the expectations at the furthest place.
  const missed$ = [];
  var misses$ = 0;

  function miss$(at, expectation) {
    if (at < furthest$) return;
    if (at > furthest$) {
      furthest$ = at;
      misses$ = 0;
    }
    missed$[misses$++] = expectation;
  }

  function failure$() {
    begin$();
    misses$ = 0;
    const end = expect$();
    if (end > furthest$) {
      furthest$ = end;
      misses$ = 0;
    }
    const expected = missed$.slice(0, misses$).map((number) => expectations$[number]);
    if (end === furthest$) expected.push({ type: "end" });
    const code = input.codePointAt(furthest$);
    const found = code === undefined ? null : String.fromCodePoint(code);
    const location = peg$locationIn(input, options.grammarSource, furthest$, Math.min(furthest$ + 1, length$));
    return Object.defineProperty(new peg$SyntaxError("", expected, found, location), "message", peg$message);
  }

  function expect$() {
${startSwitch(startRules, ({ explainer }) => explainer)}
  }

  return { parse: parse$${recognize ? ', recognize: recognize$' : ''} };`,
    outside: (recognize) => `
// A message that is built when it is read.
const peg$message = {
  get() { return peg$SyntaxError.buildMessage(this.expected, this.found); },
  set(value) { Object.defineProperty(this, "message", { value, writable: true }); },
  configurable: true,
};
${exported(recognize)}`,
  };
}

/** Makes errors of the scanner instances of Peggy's class without running its constructor. */
const INHERIT = `delete peg$Failure.prototype.constructor;
Object.setPrototypeOf(peg$Failure.prototype, peg$SyntaxError.prototype);
`;

function failureClass(details: string): string {
  return `
// A syntax error that finds the expectations when they are read.
class peg$Failure extends SyntaxError {
  #text;
  #options;
  #details;

  static #LATE = {
    expected: {
      get() { return this.#known.expected; },
      set(value) { this.#own("expected", value, true); },
      enumerable: true,
      configurable: true,
    },
    message: {
      get() { return this.#known.message; },
      set(value) { this.#own("message", value, false); },
      configurable: true,
    },
  };

  constructor(text, given, offset) {
    super();
    this.#text = text;
    // A copy: the caller may reuse the object with other values.
    this.#options = Object(given) === given ? Object.assign(Object.create(Object.getPrototypeOf(given)), given) : given;
    const isEnd = offset === text.length;
    Object.defineProperties(this, peg$Failure.#LATE);
    this.found = isEnd ? null : String.fromCodePoint(text.codePointAt(offset));
    this.location = peg$locationIn(text, given?.grammarSource, offset, isEnd ? offset : offset + 1);
    this.name = "SyntaxError";
  }

  get #known() {
    if (this.#details === undefined) {
      this.#details = this.#work();
      this.#text = this.#options = undefined;
    }
    return this.#details;
  }

  #work() {${details}
  }

  #own(name, value, enumerable) {
    Object.defineProperty(this, name, { value, writable: true, enumerable, configurable: true });
  }
}
`;
}

function exported(recognize: boolean): string {
  return `
function peg$parse(input, options) {
  return peg$scanner.parse(input, options);
}
${
  recognize
    ? `
// Returns true if parse() would accept the input: the same checks, without building the result.
function peg$recognize(input, options) {
  return peg$scanner.recognize(input, options);
}
`
    : ''
}`;
}

const RECOGNIZE = `
  function recognize$(text, given) {
    const other = scannerFor$(text, given);
    if (other !== null) return other.recognize(text, given);
    open$(text, given);
    try {
      begin$();
      return skip$() === length$;
    } catch (thrown) {
      if (thrown instanceof peg$SyntaxError) return false;
      throw thrown;
    } finally {
      close$();
    }
  }
`;

const RECOGNIZE_OR_SLOW = `
  function recognize$(text, given) {
    if (canScan$(text, given)) {
      open$(text, given);
      try {
        begin$();
        return skip$() === length$;
      } catch (thrown) {
        if (thrown instanceof peg$SyntaxError) return false;
      } finally {
        close$();
      }
    }
    try {
      peg$parseSlow(text, given);
      return true;
    } catch (thrown) {
      if (thrown instanceof peg$SyntaxError) return false;
      throw thrown;
    }
  }
`;

export interface StartRule {
  readonly rule: string;
  readonly builder: string;
  readonly skipper: string;
  readonly explainer: string | undefined;
}

export function startSwitch(
  startRules: readonly StartRule[],
  nameOf: (rule: StartRule) => string | undefined,
  indentation = 4,
): string {
  const [first, ...others] = startRules;
  const usual = nameOf(first!);
  const lines = others
    .filter((start) => nameOf(start) !== usual)
    .map((start) => `if (options.startRule === "${start.rule}") return ${nameOf(start)}(0);`);
  return indent([...lines, `return ${usual}(0);`].join('\n'), indentation);
}

export function indent(code: string, width = 2): string {
  return code.replace(/^(?=.)/gm, ' '.repeat(width));
}
