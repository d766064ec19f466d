/** Expressions of generated code, printed as common formatters print them: at most 120 columns, single quotes, trailing commas. */

/** An expression: a text without line breaks, or a call, an array or an object. */
export type Code =
  | string
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Code[] }
  | { readonly kind: 'array'; readonly items: readonly Code[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: Code])[] };

const WIDTH = 120;
const INDENT = 2;

export function call(name: string, args: readonly Code[]): Code {
  return { kind: 'call', name, args };
}

export function array(items: readonly Code[]): Code {
  return { kind: 'array', items };
}

export function object(members: readonly (readonly [key: string, value: Code])[]): Code {
  return { kind: 'object', members };
}

/** Returns a string literal in visible ASCII characters. */
export function quoted(text: string): string {
  const doubled = JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const single = (text.match(/'/g) ?? []).length;
  const double = (text.match(/"/g) ?? []).length;
  if (single > double) return doubled;
  return `'${doubled.slice(1, -1).replace(/\\(.)|'/g, (pair, escaped) => (pair === "'" ? "\\'" : escaped === '"' ? '"' : pair))}'`;
}

/**
 * Prints an expression.
 *
 * @param indent the indentation of the line that it begins in
 * @param before the number of characters before it in this line
 * @param after the number of characters that follow it at once
 */
export function print(code: Code, indent: number, before: number, after: number): string {
  const flat = flatText(code);
  if (flat !== null && (typeof code === 'string' || before + flat.length + after <= WIDTH)) return flat;
  if (typeof code === 'string') return code;
  const inner = indent + INDENT;
  const lines = (items: readonly string[]): string =>
    `\n${items.map((item) => `${' '.repeat(inner)}${item},\n`).join('')}${' '.repeat(indent)}`;
  const printed = (items: readonly Code[]): readonly string[] => items.map((item) => print(item, inner, inner, 1));
  if (code.kind === 'array') return `[${lines(printed(code.items))}]`;
  if (code.kind === 'object') {
    const members = code.members.map(([key, value]) => {
      const name = `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: `;
      return `${name}${print(value, inner, inner + name.length, 1)}`;
    });
    return `{${lines(members)}}`;
  }
  const { name, args } = code;
  const last = args.at(-1)!;
  if (typeof last === 'string' || last.kind === 'call') return `${name}(${lines(printed(args))})`;
  const others = args.slice(0, -1).map((arg) => `${flatText(arg)}, `);
  const start = `${name}(${others.join('')}`;
  return `${start}${print(last, indent, WIDTH, 1)})`;
}

/** Returns the expression in one line; `null` if it has an object with members. */
function flatText(code: Code): string | null {
  if (typeof code === 'string') return code;
  if (code.kind === 'object') return code.members.length === 0 ? '{}' : null;
  const parts = (code.kind === 'call' ? code.args : code.items).map(flatText);
  if (parts.includes(null)) return null;
  return code.kind === 'call' ? `${code.name}(${parts.join(', ')})` : `[${parts.join(', ')}]`;
}
