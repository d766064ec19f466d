/** The start rules of a parser, and how its code chooses among them. */
export interface StartRule {
  readonly rule: string;
  /** The names of its functions; the last one is there without Peggy's code only. */
  readonly builder: string;
  readonly skipper: string;
  readonly explainer: string | undefined;
}

/** Calls the function of the start rule that the options name; the first one is the default. */
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
