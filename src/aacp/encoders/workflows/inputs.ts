/** Kinds of inputs that several workflows have. */
import { refuseNoCurrency } from '../currency.js';
import type { EngineInput } from '../plan.js';
import { anyBoolean, anyList, anyText, anyTextOrNumber } from '../schemas.js';

type More = Omit<EngineInput, 'schema' | 'description'>;

/** A text. */
export function text<const M extends More>(description: string, more: M) {
  return { schema: anyText, description, ...more };
}

/** A list of texts. */
export function list<const M extends More>(description: string, more: M) {
  return { schema: anyList, description, list: true, ...more } as const;
}

/** An amount: a number, or its plain decimal digits, which then stay as they are. */
export function amount<const M extends More>(description: string, more: M) {
  return { schema: anyTextOrNumber, description, decimal: true, ...more } as const;
}

/** A text, or a number that stands for one. */
export function textOrNumber<const M extends More>(description: string, more: M) {
  return { schema: anyTextOrNumber, description, ...more };
}

/** Yes or no. */
export function flag(description: string) {
  return { schema: anyBoolean, description, default: false } as const;
}

/** Who did what is logged. */
export function actor<const Default extends string>(agent: Default) {
  return text('the agent that did it', { default: agent });
}

/** A three-letter code; it is written in capitals. */
export function currency<const M extends More>(description: string, more: M) {
  return text(description, { ...more, normalise: ['upper-case'], refuse: refuseNoCurrency } as const);
}

/** A month, or another period. */
export function period<const Example extends string>(description: string, example: Example) {
  return text(description, { example, period: true });
}

export const CURRENCY = currency('the currency, as three letters', { example: 'GBP' });

/** The company; it is written with hyphens for spaces. */
export const SUPPLIER = text('the supplier', { normalise: ['space-to-hyphen'], example: 'ABC Ltd' });

export const USERNAME = text('the account name', { example: 'j.smith' });
