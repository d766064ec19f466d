/** The syntax tree of an ACCP frame (draft-benzing-accp-00, section 3.1): plain objects discriminated by `kind`. */
import type { Span } from '../text/span.js';

/** One message: `@agent>intent:operation{payload}[metadata]`. */
export interface Frame {
  readonly kind: 'frame';
  /** The name of the sender: letters, digits, `-` and `_`. */
  readonly agent: string;
  /** The intent: letters, such as `req` (Table 7). */
  readonly intent: string;
  /** The operation: letters, digits and `_`, such as `schedule`. */
  readonly operation: string;
  /** The parameters in braces, in source order. */
  readonly payload: readonly Param[];
  /** The parameters in brackets, in source order; `null` if the frame has no metadata block. A block is never empty. */
  readonly metadata: readonly Param[] | null;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** Header and metadata of a frame, without its payload. */
export interface FrameEnvelope {
  readonly kind: 'envelope';
  /** The name of the sender. */
  readonly agent: string;
  /** The intent, such as `req`. */
  readonly intent: string;
  /** The operation, such as `schedule`. */
  readonly operation: string;
  /** The parameters in brackets; `null` if the frame has no metadata block. */
  readonly metadata: readonly Param[] | null;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A `key:value` pair in a payload, a map or a metadata block. Keys are unique within one list. */
export interface Param {
  /** The key: letters, digits and `_`. */
  readonly key: string;
  /** The value, exactly as it is written. */
  readonly value: Value;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A string: any text that does not read as another kind of value. */
export interface StringValue {
  readonly kind: 'string';
  /** The text without escapes: one or more visible ASCII characters. */
  readonly value: string;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** An integer of any size. */
export interface IntegerValue {
  readonly kind: 'integer';
  /** A `bigint` if it is outside the safe integers, -(2^53 - 1) to 2^53 - 1; otherwise a `number`. */
  readonly value: number | bigint;
  /** The source digits, where they are not the canonical spelling of `value` (`007`, `-0`); printing then uses them. */
  readonly text?: string;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A number with a decimal point. */
export interface DecimalValue {
  readonly kind: 'decimal';
  /** The nearest double; `Infinity` beyond its range. */
  readonly value: number;
  /** The source digits, where they are not the canonical spelling of `value` (`2.500`); printing then uses them. */
  readonly text?: string;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** The keyword `true` or `false`. */
export interface BooleanValue {
  readonly kind: 'boolean';
  /** The value of the keyword. */
  readonly value: boolean;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** The absence of a value, written `~`. */
export interface NullValue {
  readonly kind: 'null';
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A list of values: `[a,b]`. */
export interface ArrayValue {
  readonly kind: 'array';
  /** The items, in source order. */
  readonly items: readonly Value[];
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A list of unique keys with values: `{a:1,b:2}`. */
export interface MapValue {
  readonly kind: 'map';
  /** The entries, in source order. */
  readonly entries: readonly Param[];
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** A reference to a value in state: `$warm.ckpt_1.status` (section 5.1). */
export interface RefValue {
  readonly kind: 'ref';
  /** The path without the dollar sign: `warm.ckpt_1.status`. */
  readonly path: string;
  /** The position in the source text; present only if the parser was called with `spans: true`. */
  readonly span?: Span;
}

/** The value of a parameter, an array item or a map entry, discriminated by `kind`. */
export type Value =
  | StringValue
  | IntegerValue
  | DecimalValue
  | BooleanValue
  | NullValue
  | ArrayValue
  | MapValue
  | RefValue;

/** A node that `walkFrame` visits. */
export type AccpNode = Frame | Value;

/** The node type of a kind: `NodeOf<'map'>` is `MapValue`. */
export type NodeOf<K extends AccpNode['kind']> = Extract<AccpNode, { readonly kind: K }>;

/** The members of each kind of node that hold further nodes, in source order. */
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
