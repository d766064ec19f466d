/** Loads one parser and reads some texts a hundred times: `node cold-start-child.js TEXTS.json [MODULE EXPORT]`. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

export interface ColdFigures {
  /** Milliseconds to load the parser. */
  readonly load: number;
  /** Microseconds per text, by pass. */
  readonly passes: readonly number[];
}

const [, , file = '', module = '', name = ''] = process.argv;
const texts = JSON.parse(readFileSync(file, 'utf8')) as string[];

const start = performance.now();
const read =
  module === '' ? JSON.parse : ((await import(pathToFileURL(module).href))[name] as (text: string) => unknown);
const load = performance.now() - start;

const passes: number[] = [];
for (let pass = 0; pass < 100; pass++) {
  const begin = performance.now();
  for (const text of texts) read(text);
  passes.push(((performance.now() - begin) * 1000) / texts.length);
}
const figures: ColdFigures = { load, passes };
console.log(JSON.stringify(figures));
