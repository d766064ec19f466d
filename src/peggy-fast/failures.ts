/** The frame of a generated parser: the functions that run the scans, and the errors. */

import type { Expectation } from './ir.js';

export const INTRODUCTION = `// The scanner reads the input as bytes and builds the result, without recording failures. It scans an input that it rejects
// again, for the furthest place that was reached and the expectations there; that scan runs no code of the grammar, but repeats the
// decisions that it has made. So a rule has up to three functions: rule$build, rule$skip (which builds nothing), and rule$expect.`;

interface Frame {
  readonly startRules: readonly StartRule[];
  readonly expectations: readonly Expectation[];
  readonly recognize: boolean;
  readonly tryParse: boolean;
  /** `true` if the parser supports Peggy's library mode, in which a parser calls one whose rules its grammar imports. */
  readonly library: boolean;
}

/** The last functions of a scanner, which run the scans. */
export function scans(frame: Frame, decides: boolean): string {
  const { startRules, expectations, recognize, tryParse, library } = frame;
  const names = startRules.map(({ rule }) => JSON.stringify(rule)).join(', ');
  const list = expectations.map((one) => `    ${JSON.stringify(one)},`).join('\n');
  return `
  const startRules$ = [${names}];

  // Returns false if another scanner must parse the text: within the code of this one, or because it is too long.
  function isFor$(text, given) {
    if (given === null) throw new TypeError("Cannot read properties of null (reading 'grammarSource')");
    const rule = given === undefined ? undefined : given.startRule;
    if (rule && !startRules$.includes(\`\${rule}\`)) throw new Error(\`Can't start parsing from rule "\${rule}".\`);
    return !busy$ && text.length <= capacity$;
  }

  function parse$(text, given) {
    if (!isFor$(text, given)) return peg$elsewhere("parse", text, given);
${library ? '    if (given !== undefined && isInternal$(given)) return library$(text, given);\n' : ''}    open$(text, given);
    let result;
    // Without "finally", which V8 compiles to slower code.
    try {
      begin$();
      result = build$(0);
      if (result === FAILED$ || end$ !== length$) throw failure$(expect$(0), expected$());
    } catch (thrown) {
      close$();
      throw thrown;
    }
    close$();
    return result;
  }
${tryParse ? TRY_PARSE : ''}${recognize ? RECOGNIZE : ''}
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

  function expected$() {
    return missed$.slice(0, misses$).map((number) => expectations$[number]);
  }

  function expect$(at) {
    furthest$ = at;
    misses$ = 0;${decides ? '\n    decided$ = 0;' : ''}
${startSwitch(startRules, ({ explainer }) => explainer)}
  }

  // The error for the last call of expect$, and the end that it returned.
  function failure$(end, expected) {
    if (end > furthest$) {
      furthest$ = end;
      expected = [];
    }
    if (end === furthest$) expected.push({ type: "end" });
    const code = input.codePointAt(furthest$);
    const found = code === undefined ? null : String.fromCodePoint(code);
    const location = peg$locationIn(input, source$, furthest$, furthest$ + (furthest$ < length$ ? 1 : 0));
${tryParse ? '    if (quiet$) return new peg$QuietError(expected, found, location);\n' : ''}    return Object.defineProperty(new peg$SyntaxError("", expected, found, location), "message", peg$message);
  }
${library ? LIBRARY : ''}
  return { capacity: capacity$, parse: parse$${tryParse ? ', tryParse: tryParse$' : ''}${recognize ? ', recognize: recognize$' : ''} };`;
}

/** The functions around the scanners. */
export function entries({ recognize, tryParse }: Pick<Frame, 'recognize' | 'tryParse'>): string {
  return `
// Scanners for texts within texts, and for long ones.
const peg$idle = [];

function peg$elsewhere(method, text, options) {
  const known = peg$idle.findIndex(({ capacity }) => capacity >= text.length);
  const scanner = known < 0 ? peg$makeScanner(Math.max(text.length, 4096)) : peg$idle.splice(known, 1)[0];
  try {
    return scanner[method](text, options);
  } finally {
    if (peg$idle.length < 8 && scanner.capacity <= ${MOST_KEPT}) peg$idle.push(scanner);
  }
}

// A message that is built when it is read.
const peg$message = {
  get() { return peg$SyntaxError.buildMessage(this.expected, this.found); },
  set(value) { Object.defineProperty(this, "message", { value, writable: true, configurable: true }); },
  configurable: true,
};

function peg$text(input) {
  if (input instanceof String) return \`\${input}\`;
  throw new TypeError("The input of a parser must be a string");
}

function peg$parse(input, options) {
  return peg$scanner.parse(typeof input === "string" ? input : peg$text(input), options);
}
${
  tryParse
    ? `
// Returns { ok: true, value }, or { ok: false, error } if parse() would throw a SyntaxError. The error has no stack trace.
function peg$tryParse(input, options) {
  return peg$scanner.tryParse(typeof input === "string" ? input : peg$text(input), options);
}
`
    : ''
}${
  recognize
    ? `
// Returns true if parse() would accept the input: the same checks, without building the result.
function peg$recognize(input, options) {
  return peg$scanner.recognize(typeof input === "string" ? input : peg$text(input), options);
}
`
    : ''
}`;
}

/** The capacity of the largest scanner that a parser keeps for another text, in code units. */
const MOST_KEPT = 1 << 24;

/** The beginning of an expression that creates an error for code of the grammar. */
export const newError = (tryParse: boolean): string => (tryParse ? 'fault$(' : 'new peg$SyntaxError(');

const TRY_PARSE = `
  function fault$(message, expected, found, location) {
    if (!quiet$) return new peg$SyntaxError(message, expected, found, location);
    const fault = new peg$QuietError(expected, found, location);
    fault.message = message === undefined ? "" : \`\${message}\`;
    return fault;
  }

  function tryParse$(text, given) {
    if (!isFor$(text, given)) return peg$elsewhere("tryParse", text, given);
    open$(text, given);
    quiet$ = true;
    let value;
    let error;
    try {
      begin$();
      value = build$(0);
      if (value === FAILED$ || end$ !== length$) error = failure$(expect$(0), expected$());
    } catch (thrown) {
      close$();
      if (thrown instanceof peg$SyntaxError) return { ok: false, error: thrown };
      throw thrown;
    }
    close$();
    return error === undefined ? { ok: true, value } : { ok: false, error };
  }
`;

const RECOGNIZE = `
  function recognize$(text, given) {
    if (!isFor$(text, given)) return peg$elsewhere("recognize", text, given);
    open$(text, given);
    let accepts;
    try {
      begin$();
      accepts = skip$(0) === length$;
    } catch (thrown) {
      close$();
      if (thrown instanceof peg$SyntaxError) return false;
      throw thrown;
    }
    close$();
    return accepts;
  }
`;

const LIBRARY = `
  // Peggy's internal options, which a parser gives to one whose rules it imports.
  function isInternal$(given) {
    return given.peg$library || given.peg$currPos || given.peg$silentFails || given.peg$maxFailExpected;
  }

  function library$(text, given) {
    open$(text, given);
    try {
      begin$();
      const start = given.peg$currPos | 0;
      // There is nothing after the end.
      if (start > length$) bytes$.fill(bytes$[length$], length$, start + 1);
      const result = build$(start);
      const isMatch = result !== FAILED$;
      const end = isMatch ? end$ : -1;
      furthest$ = start;
      misses$ = 0;
      if (!(given.peg$silentFails | 0)) expect$(start);
      const expected = (furthest$ === start && given.peg$maxFailExpected) || [];
      expected.push(...expected$());
      const state = { peg$currPos: isMatch ? end : start, peg$FAILED: FAILED$, peg$maxFailExpected: expected, peg$maxFailPos: furthest$ };
      const success = isMatch && end === length$;
      const error = success ? undefined : failure$(end, [...expected]);
      if (given.peg$library) {
        return { peg$result: result, ...state, peg$success: success, peg$throw: success ? undefined : () => { throw error; } };
      }
      if (success) return result;
      throw error;
    } finally {
      close$();
    }
  }
`;

export interface StartRule {
  readonly rule: string;
  readonly builder: string;
  readonly skipper: string;
  readonly explainer: string;
}

export function startSwitch(
  startRules: readonly StartRule[],
  nameOf: (rule: StartRule) => string,
  indentation = 4,
): string {
  const [first, ...others] = startRules;
  const usual = nameOf(first!);
  const lines = others
    .filter((start) => nameOf(start) !== usual)
    .map((start) => `if (rule$ == ${JSON.stringify(start.rule)}) return ${nameOf(start)}(at);`);
  return indent([...lines, `return ${usual}(at);`].join('\n'), indentation);
}

export function indent(code: string, width = 2): string {
  return code.replace(/^(?=.)/gm, ' '.repeat(width));
}
