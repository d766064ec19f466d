/** The languages, each in its dialects, and the corpus of interesting texts. */
import { readdirSync, readFileSync } from 'node:fs';

/** A language in one of its dialects. */
export type Language =
  | { readonly protocol: 'accp'; readonly dialect: 'strict' | 'lenient' }
  | { readonly protocol: 'aacp'; readonly dialect: 'strict' | 'tolerant' };

/** One text for all parsers, in the form of the cases in `corpus/`. */
export type Input = Language & { readonly text: string };

export const LANGUAGES: readonly Language[] = [
  { protocol: 'accp', dialect: 'strict' },
  { protocol: 'accp', dialect: 'lenient' },
  { protocol: 'aacp', dialect: 'strict' },
  { protocol: 'aacp', dialect: 'tolerant' },
];

export const CORPUS = new URL('corpus/', import.meta.url);

/** Returns the cases of all files in the corpus. */
export function corpus(): readonly Input[] {
  return readdirSync(CORPUS)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(new URL(name, CORPUS), 'utf8')) as Input[]);
}

/** The name in tables and titles of tests. */
export function nameOf({ protocol, dialect }: Language): string {
  return `${protocol} ${dialect}`;
}
