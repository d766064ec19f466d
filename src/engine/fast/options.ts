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

/** What is wrong with a value of the build option `fast`: nothing says so otherwise, since Peggy takes what it does not know. */
export function problemsOf(options: unknown): string[] {
  if (options === undefined) return [];
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return [`The build option "fast" is an object of options, not ${shown(options)}`];
  }
  return Object.entries(options).flatMap(([name, value]) => {
    if (!Object.hasOwn(KINDS, name)) {
      return [`There is no option "${name}" in "fast"; the options are ${Object.keys(KINDS).join(', ')}`];
    }
    const kind = KINDS[name as keyof FastOptions];
    if (value === undefined || HOLDS[kind](value)) return [];
    return [`The option "${name}" in "fast" is ${kind}, not ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  return typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value));
}
