/** Values of messages and of frames in one shape, as rendering needs them. */
import { digitsOf } from '../../text/decimal.js';
import type { Param, Value } from '../ast.js';
import { AccpError } from '../errors/accp-error.js';
import type { Json } from '../message/json.js';
import { Reference } from '../message/reference.js';

/** `text` is a string, whatever it holds; `literal` a number, a boolean, null or a reference as it is written. */
export type Item =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'map'; readonly entries: readonly Entry[] };

export interface Entry {
  readonly key: string;
  readonly item: Item;
}

/** Far deeper than frames may be; less than what a call stack holds. */
const MAX_DEPTH = 200;

/**
 * Members in their order; those that are undefined are not there, as in JSON.
 *
 * @throws AccpError E1004 on what nests too deeply or is no JSON
 */
export function entriesOfJson(members: { readonly [key: string]: Json }, depth = 0): readonly Entry[] {
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, item: itemOfJson(value, depth) }));
}

function itemOfJson(value: Json, depth: number): Item {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (value === null || typeof value !== 'object') return { kind: 'literal', text: literalText(value) };
  if (value instanceof Reference) return { kind: 'literal', text: `$${value.path}` };
  checkDepth(depth);
  if (isList(value)) return { kind: 'list', items: value.map((item) => itemOfJson(item, depth + 1)) };
  return { kind: 'map', entries: entriesOfJson(value, depth + 1) };
}

/** @throws AccpError E1004 on what nests too deeply */
export function entriesOfParams(params: readonly Param[], depth = 0): readonly Entry[] {
  return params.map(({ key, value }) => ({ key, item: itemOfNode(value, depth) }));
}

function itemOfNode(node: Value, depth: number): Item {
  switch (node.kind) {
    case 'string':
      return { kind: 'text', text: node.value };
    case 'integer':
    case 'decimal':
      return { kind: 'literal', text: digits(node.text) ?? literalText(node.value) };
    case 'boolean':
      return { kind: 'literal', text: String(node.value) };
    case 'null':
      return { kind: 'literal', text: 'null' };
    case 'ref':
      // Trees made by hand may hold anything.
      return { kind: PATH.test(node.path) ? 'literal' : 'text', text: `$${node.path}` };
    case 'array':
      checkDepth(depth);
      return { kind: 'list', items: node.items.map((item) => itemOfNode(item, depth + 1)) };
    case 'map':
      checkDepth(depth);
      return { kind: 'map', entries: entriesOfParams(node.entries, depth + 1) };
  }
}

const PATH = /^[A-Za-z0-9_.]+$/;
const DIGITS = /^-?\d+(?:\.\d+)?$/;

/** The digits of a number as they were written, where they are digits. */
function digits(text: string | undefined): string | undefined {
  return text !== undefined && DIGITS.test(text) ? text : undefined;
}

function literalText(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return digitsOf(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  const what = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new AccpError({ code: 'E1004', path: 'payload', message: `${what} is no value of a message` });
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function checkDepth(depth: number): void {
  if (depth <= MAX_DEPTH) return;
  throw new AccpError({ code: 'E1004', path: 'payload', message: `values nest deeper than ${MAX_DEPTH} levels` });
}
