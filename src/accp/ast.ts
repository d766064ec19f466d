/**
 * The syntax tree of an ACCP frame (draft-benzing-accp-00, section 3.1): plain objects discriminated by `kind`, without spans
 * unless the parser was asked for them.
 */
import type { Span } from '../text/span.js';

/** One message: `@agent>intent:operation{payload}[metadata]`. */
export interface Frame {
  readonly kind: 'frame';
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly payload: readonly Param[];
  /** `null` when the frame has no metadata block; a block is never empty. */
  readonly metadata: readonly Param[] | null;
  readonly span?: Span;
}

/** Header and metadata of a frame, without its payload. */
export interface FrameEnvelope {
  readonly kind: 'envelope';
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly metadata: readonly Param[] | null;
  readonly span?: Span;
}

/** `key:value` in a payload, a map or a metadata block. Keys are unique within one list. */
export interface Param {
  readonly key: string;
  readonly value: Value;
  readonly span?: Span;
}

export interface StringValue {
  readonly kind: 'string';
  /** The text without escapes: one or more visible ASCII characters. */
  readonly value: string;
  readonly span?: Span;
}

export interface IntegerValue {
  readonly kind: 'integer';
  /** A `bigint` outside the safe integers, plus or minus (2^53 - 1). */
  readonly value: number | bigint;
  /** The source digits, where they are not the canonical spelling of `value` (`007`, `-0`); printing then uses them. */
  readonly text?: string;
  readonly span?: Span;
}

export interface DecimalValue {
  readonly kind: 'decimal';
  /** The nearest double; `Infinity` beyond its range. */
  readonly value: number;
  /** The source digits, where they are not the canonical spelling of `value` (`2.500`); printing then uses them. */
  readonly text?: string;
  readonly span?: Span;
}

export interface BooleanValue {
  readonly kind: 'boolean';
  readonly value: boolean;
  readonly span?: Span;
}

export interface NullValue {
  readonly kind: 'null';
  readonly span?: Span;
}

export interface ArrayValue {
  readonly kind: 'array';
  readonly items: readonly Value[];
  readonly span?: Span;
}

export interface MapValue {
  readonly kind: 'map';
  readonly entries: readonly Param[];
  readonly span?: Span;
}

export interface RefValue {
  readonly kind: 'ref';
  /** What follows the dollar sign: `warm.ckpt_1.status`. */
  readonly path: string;
  readonly span?: Span;
}

export type Value =
  | StringValue
  | IntegerValue
  | DecimalValue
  | BooleanValue
  | NullValue
  | ArrayValue
  | MapValue
  | RefValue;

export type AccpNode = Frame | Value;

/** The node type of a kind: `NodeOf<'map'>` is `MapValue`. */
export type NodeOf<K extends AccpNode['kind']> = Extract<AccpNode, { readonly kind: K }>;

/** For each kind, its members that hold further nodes, in source order. */
export const FRAME_CHILD_KEYS: {
  readonly [N in AccpNode as N['kind']]: readonly Exclude<keyof N, 'kind' | 'span'>[];
} = {
  frame: ['payload', 'metadata'],
  string: [],
  integer: [],
  decimal: [],
  boolean: [],
  null: [],
  array: ['items'],
  map: ['entries'],
  ref: [],
};
