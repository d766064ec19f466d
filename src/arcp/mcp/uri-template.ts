/** Expansion of URI templates (RFC 6570, all levels). */
import { ArcpError } from '../protocol/errors.js';

interface Operator {
  readonly first: string;
  readonly separator: string;
  /** `true` if values follow their names. */
  readonly isNamed: boolean;
  /** The text after the name of an empty value. */
  readonly ifEmpty: string;
  readonly allowsReserved: boolean;
}

const operator = (
  first: string,
  separator: string,
  { isNamed = false, ifEmpty = '', allowsReserved = false } = {},
): Operator => ({ first, separator, isNamed, ifEmpty, allowsReserved });

/** RFC 6570, appendix A. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '': operator('', ','),
  '+': operator('', ',', { allowsReserved: true }),
  '#': operator('#', ',', { allowsReserved: true }),
  '.': operator('.', '.'),
  '/': operator('/', '/'),
  ';': operator(';', ';', { isNamed: true }),
  '?': operator('?', '&', { isNamed: true, ifEmpty: '=' }),
  '&': operator('&', '&', { isNamed: true, ifEmpty: '=' }),
};

interface Variable {
  readonly name: string;
  readonly isExploded: boolean;
  readonly prefixLength: number;
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/g;

/** A variable of a template. The parts of a URI before a query need their variables. */
export interface TemplateVariable {
  readonly name: string;
  readonly isRequired: boolean;
}

/** Returns the variables of a template, each once. */
export function variablesOf(template: string): readonly TemplateVariable[] {
  const found = new Map<string, boolean>();
  for (const [, sign = '', list = ''] of template.matchAll(EXPRESSION))
    for (const { name } of variablesIn(list)) found.set(name, found.get(name) === true || !'?&#'.includes(sign || ' '));
  return [...found].map(([name, isRequired]) => ({ name, isRequired }));
}

/**
 * Expands a template. Variables without a value are omitted.
 *
 * @throws ArcpError `INVALID_ARGUMENT` if a value is not a text, a number, a boolean or a list of them
 */
export function expand(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(EXPRESSION, (_, sign: string, list: string) => {
    const { first, separator, ...form } = OPERATORS[sign]!;
    const expanded = variablesIn(list).flatMap((variable) => expandVariable(variable, values[variable.name], form));
    return expanded.length === 0 ? '' : first + expanded.join(separator);
  });
}

function variablesIn(list: string): readonly Variable[] {
  return list.split(',').map((spec) => {
    const [, name = '', prefix, explode] = /^(.*?)(?::(\d+)|(\*))?$/.exec(spec.trim())!;
    return { name, isExploded: explode !== undefined, prefixLength: prefix === undefined ? Infinity : Number(prefix) };
  });
}

type Form = Pick<Operator, 'isNamed' | 'ifEmpty' | 'allowsReserved'>;

function expandVariable({ name, isExploded, prefixLength }: Variable, value: unknown, form: Form): readonly string[] {
  if (value === undefined || value === null) return [];
  const items = (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map((item) => {
    if (!['string', 'number', 'boolean'].includes(typeof item))
      throw new ArcpError('INVALID_ARGUMENT', `${name} must be a text, a number, a boolean or a list of them`);
    return encode([...String(item)].slice(0, prefixLength).join(''), form.allowsReserved);
  });
  if (items.length === 0) return [];
  const parts = isExploded ? items : [items.join(',')];
  if (!form.isNamed) return parts;
  return parts.map((part) => name + (part === '' ? form.ifEmpty : `=${part}`));
}

function encode(text: string, allowsReserved: boolean): string {
  // `encodeURIComponent` rejects lone surrogates.
  const wellFormed = text.replace(/\p{Surrogate}/gu, '\ufffd');
  if (!allowsReserved) return encodeURIComponent(wellFormed).replace(/[!'()*]/g, percentOf);
  // Reserved characters and percent-encoded triplets stay as they are.
  return wellFormed.replace(/%(?![0-9A-Fa-f]{2})|[^%A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]+/gu, (part) =>
    encodeURIComponent(part),
  );
}

function percentOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
