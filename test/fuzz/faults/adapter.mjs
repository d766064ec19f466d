/**
 * An adapter around the readers of this folder, with one of the faults of `faults.json` in it, or none.
 *
 *     npx pegwire fuzz accp --target 'node test/fuzz/faults/adapter.mjs accp split-at-every-colon'
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createInterface } from 'node:readline';

/** Returns the reader's source with the fault in it. */
function patched(source, { id, find, replace }) {
  if (source.split(find).length !== 2) throw new Error(`The fault ${id} does not have one place in the reader`);
  return source.replace(find, () => replace);
}

const [protocol, id] = process.argv.slice(2);
if (protocol !== 'accp' && protocol !== 'aacp') throw new Error('Usage: adapter.mjs accp|aacp [FAULT]');
let source = readFileSync(new URL(`${protocol}-reader.mjs`, import.meta.url), 'utf8');
if (id !== undefined) {
  const faults = JSON.parse(readFileSync(new URL('faults.json', import.meta.url), 'utf8'));
  const fault = faults.find((one) => one.id === id && one.protocol === protocol);
  if (fault === undefined) throw new Error(`There is no fault "${id}" for ${protocol}`);
  source = patched(source, fault);
}
const { read } = await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`);

createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
  process.stdout.write(`${JSON.stringify(read(JSON.parse(line).input))}\n`);
});
