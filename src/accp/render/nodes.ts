/** JSON as a tree of values. */
import type { PegwireError } from '../../text/errors.js';
import type { Param, Value } from '../ast.js';
import { accpError } from '../errors.js';
import { describeType, isPlainObject, Reference } from '../message/json.js';
import { type Step, stepText } from '../message/message.js';
import { RenderError, type RenderErrorCode } from './render-error.js';

/** Deeper than any frame, and within the call stack. */
const MAX_DEPTH = 200;

/** Deep values have long paths. */
const MAX_STEPS = 8;

/** Makes the error of a value that cannot be rendered. */
type Refuse = (code: RenderErrorCode, problem: string, path: string) => PegwireError;

/** Converts the payload of a message. @throws AccpError E1004 if it is not JSON or nests too deeply */
export function payloadNodes(payload: object): readonly Param[] {
  return new Conversion((code, problem) =>
    accpError('E1004', 'payload', code === 'not-json' ? `${problem} is not a value of a message` : problem),
  ).members(payload);
}

/** Converts any JSON. @throws RenderError if it is not JSON, contains itself or nests too deeply */
export function jsonNode(value: unknown): Value {
  return new Conversion(
    (code, problem, path) => new RenderError(code, path, code === 'not-json' ? `${problem} is not JSON` : problem),
  ).value(value);
}

/** Throws AccpError E1004 if parameters or entries are no nodes, or nest too deeply: trees may be handmade. */
export function checkParams(params: readonly Param[], depth = 0): void {
  if (depth > MAX_DEPTH) throw accpError('E1004', 'payload', TOO_DEEP);
  for (const param of params) {
    if (typeof param?.key !== 'string') throw accpError('E1004', 'payload', 'must be a list of parameters');
    checkNode(param.value, depth);
  }
}

function checkNode(node: Value, depth: number): void {
  if (depth > MAX_DEPTH) throw accpError('E1004', 'payload', TOO_DEEP);
  if (node?.kind === 'array' && Array.isArray(node.items)) {
    for (const item of node.items) checkNode(item, depth + 1);
  } else if (node?.kind === 'map' && Array.isArray(node.entries)) checkParams(node.entries, depth + 1);
  else if (!isLeaf(node)) throw accpError('E1004', 'payload', 'has a value that is not a node');
}

function isLeaf(node: Value | undefined): boolean {
  switch (node?.kind) {
    case 'null':
      return true;
    case 'ref':
      return typeof node.path === 'string';
    case 'string':
    case 'boolean':
      return typeof node.value === node.kind;
    case 'integer':
    case 'decimal':
      return typeof node.value === 'number' || typeof node.value === 'bigint';
    default:
      return false;
  }
}

const TOO_DEEP = `values nest deeper than ${MAX_DEPTH} levels`;

class Conversion {
  readonly #refuse: Refuse;
  /** The objects around the value, and the steps to it. */
  readonly #around = new Set<object>();
  readonly #steps: Step[] = [];

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** Undefined members are omitted, as in JSON. */
  members(map: object): Param[] {
    return Object.entries(map)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ({ key, value: this.#at(key, value) }));
  }

  value(value: unknown): Value {
    switch (typeof value) {
      case 'string':
        return { kind: 'string', value };
      case 'boolean':
        return { kind: 'boolean', value };
      case 'bigint':
        return { kind: 'integer', value };
      case 'number':
        if (!Number.isFinite(value)) throw this.#error('not-json', String(value));
        return { kind: 'decimal', value };
      case 'object':
        return value === null ? { kind: 'null' } : this.#object(value);
      default:
        throw this.#error('not-json', describeType(value));
    }
  }

  #object(value: object): Value {
    if (value instanceof Reference) return { kind: 'ref', path: value.path };
    if (!Array.isArray(value) && !isPlainObject(value)) throw this.#error('not-json', describeType(value));
    if (this.#around.has(value)) throw this.#error('cycle', 'a value contains itself');
    if (this.#around.size > MAX_DEPTH) throw this.#error('too-deep', TOO_DEEP);
    this.#around.add(value);
    const node: Value = Array.isArray(value)
      ? // Visits the holes of a sparse array, which map skips.
        { kind: 'array', items: Array.from(value, (item: unknown, index) => this.#at(index, item)) }
      : { kind: 'map', entries: this.members(value) };
    this.#around.delete(value);
    return node;
  }

  #at(step: Step, value: unknown): Value {
    this.#steps.push(step);
    const node = this.value(value);
    this.#steps.pop();
    return node;
  }

  #error(code: RenderErrorCode, problem: string): PegwireError {
    const steps = this.#steps.slice(0, MAX_STEPS).map(stepText).join('');
    return this.#refuse(code, problem, `value${steps}${this.#steps.length > MAX_STEPS ? '...' : ''}`);
  }
}
