/** The tools of one side and their arguments. */
import type * as z from 'zod';
import type { Json } from '../message/json.js';

export interface Tool {
  /** Returns one sentence about wrong arguments, for the caller; else `null`. */
  readonly check: (args: { readonly [name: string]: Json }) => string | null;
}

export interface ToolBook {
  readonly [name: string]: Tool;
}

/**
 * Makes a tool book from the zod schemas of arguments.
 *
 * @example
 * createCodec({ tools: toolBook({ web_search: z.object({ query: z.string(), max_results: z.int().optional() }) }) });
 */
export function toolBook(schemas: { readonly [name: string]: z.ZodType }): ToolBook {
  const book = Object.create(null) as { [name: string]: Tool };
  for (const name of Object.keys(schemas)) {
    const schema = schemas[name]!;
    book[name] = { check: (args) => fault(schema.safeParse(args)) };
  }
  return Object.freeze(book);
}

function fault(result: z.ZodSafeParseResult<unknown>): string | null {
  if (result.success) return null;
  const { path, message } = result.error.issues[0]!;
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`;
}
