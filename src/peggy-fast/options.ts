/** The build option `fast`. */
export interface FastOptions {
  /** Told why a grammar is left to Peggy's own code. @default Peggy's `info` callback */
  readonly notice?: ((message: string) => void) | undefined;
  /**
   * Leave Peggy's own parse function out: the scanner explains its errors by itself, in half the code. Grammars that the scanner
   * cannot do are refused then. Library mode and input that is no string are not supported. @default false
   */
  readonly standalone?: boolean | undefined;
  /** Also export `recognize(text, options)`: whether a text matches, without building a result. @default false */
  readonly recognize?: boolean | undefined;
  /**
   * Rules like `key = $[a-z]+` whose texts are few and come often: texts of up to eight characters are kept, so that reading one
   * again makes no new string. A grammar with another kind of rule among them is left to Peggy. @default none
   */
  readonly words?: readonly string[] | undefined;
  /**
   * The code of the grammar calls `input.charCodeAt` for nothing but characters that the parse has matched: then it gets the
   * scanned bytes, without a look at whether they are characters. A grammar that matches anything beyond ASCII is left to
   * Peggy. @default false
   */
  readonly readsMatched?: boolean | undefined;
  /** Functions that are taken to have no effects, without a look at them: imported ones, and such. */
  readonly pure?: readonly string[] | undefined;
}

type Kind = 'a function' | 'true or false' | 'a list of names';

const KINDS: Readonly<Record<keyof FastOptions, Kind>> = {
  notice: 'a function',
  standalone: 'true or false',
  recognize: 'true or false',
  words: 'a list of names',
  readsMatched: 'true or false',
  pure: 'a list of names',
};

const HOLDS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  'a function': (value) => typeof value === 'function',
  'true or false': (value) => typeof value === 'boolean',
  'a list of names': (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
};

/**
 * Checks a value of the build option `fast`, since Peggy takes what it does not know.
 *
 * @returns what is wrong with it, and its own properties as options
 */
export function checkOptions(given: unknown): { readonly problems: readonly string[]; readonly options: FastOptions } {
  if (given === undefined) return { problems: [], options: {} };
  if (Object.prototype.toString.call(given) !== '[object Object]') {
    return { problems: [`The build option "fast" is a plain object, not ${shown(given)}`], options: {} };
  }
  const options = { ...(given as FastOptions) };
  return { problems: problemsOf(options), options };
}

function problemsOf(options: FastOptions): string[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (!Object.hasOwn(KINDS, name)) {
      return [`There is no option "${name}" in "fast"; the options are ${Object.keys(KINDS).join(', ')}`];
    }
    const kind = KINDS[name as keyof FastOptions];
    if (value === undefined || HOLDS[kind](value)) return [];
    return [`The option "${name}" in "fast" is ${kind}, not ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object of another kind' : String(value);
}
