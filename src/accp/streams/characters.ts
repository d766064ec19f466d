/** How much room a value takes. */
import type { Json } from '../message/json.js';
import { Reference } from '../message/reference.js';

/** About the length of a value as JSON: what has to be escaped counts once. */
export function charactersOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof Reference) return value.path.length + 3;
  // Brackets, and what separates members.
  let sum = 2;
  if (Array.isArray(value)) {
    for (const item of value) sum += charactersOf(item) + 1;
    return sum;
  }
  for (const [key, item] of Object.entries(value)) sum += key.length + charactersOf(item) + 4;
  return sum;
}
