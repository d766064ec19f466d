/** What the host's tools are given at a checkpoint: it is theirs to read, and what is kept does not hang on it. */
import { fromText, toText } from '../store/text.js';

/** A deep copy of plain data and of what turns into it as JSON; none of it can be changed. */
export function frozenCopy<T extends object>(data: T): T {
  return frozen(fromText(toText(data))) as T;
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}
