/** What can be read of a text that is refused without being parsed: whom it answers, and who asks in it. */
import { type Scalars, scalarMembers } from '../text/json-text.js';
import { type ErrorObject, type Id, isId } from './message.js';

/** What a refused text says, as far as it can be read: it may be cut off, too long or not JSON. */
export interface Sketch {
  /** Identifiers of messages without a method: calls of this side that it may have answered. */
  readonly answers: readonly Id[];
  /** It holds nothing but responses, which are never answered. */
  readonly isResponse: boolean;
  /** The identifier that its refusal names; `undefined` for a batch, which is refused as a whole. */
  readonly id: Id | undefined;
}

const NAMES: ReadonlySet<string> = new Set(['id', 'method', 'params', 'result', 'error']);

/** Reads the identifiers of a message, or of a batch. */
export function sketch(text: string): Sketch {
  const isBatch = /^\s*\[/.test(text);
  const messages = scalarMembers(text, NAMES, isBatch ? 2 : 1);
  const answers = messages.filter((members) => !isCall(members)).map(idOf);
  return {
    answers: answers.filter((id) => id !== undefined),
    isResponse: messages.some(isResponse) && !messages.some(isCall),
    id: isBatch || messages.length === 0 ? undefined : idOf(messages[0]!),
  };
}

/**
 * Returns the identifier that an error without one names in its `data`: our refusals do, and the official SDK has the refused message there.
 * A refused message that is a response is none of the calls of this side.
 */
export function idInData({ data }: ErrorObject): Id | undefined {
  if (typeof data !== 'object' || data === null || isResponse(data) || !Object.hasOwn(data, 'id')) return undefined;
  return idOf(data as { readonly id: unknown });
}

function isCall(members: Scalars): boolean {
  return 'method' in members || 'params' in members;
}

function isResponse(members: object): boolean {
  return Object.hasOwn(members, 'result') || Object.hasOwn(members, 'error');
}

function idOf({ id }: { readonly [name: string]: unknown }): Id | undefined {
  return isId(id) ? id : undefined;
}
