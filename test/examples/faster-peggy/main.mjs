import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import peggy from 'peggy';
import fast from 'pegwire/engine/peggy-plugin';

const grammar = readFileSync('list.peggy', 'utf8');
const stock = peggy.generate(grammar);
const scanner = peggy.generate(grammar, { plugins: [fast], fast: { recognize: true, onNotice: console.warn } });

// The results and the errors are the same.
const input = Array.from({ length: 1000 }, (_, n) => `key=${n},name="text ${n}"`).join(',');
assert.deepEqual(scanner.parse(input), stock.parse(input));
assert.throws(() => scanner.parse('key=1,name'), { message: 'Expected "=" or [a-z] but end of input found.' });
assert.equal(scanner.recognize('key=1'), true);
console.log('same results');

// Both take turns, so that the ratio means something on a busy machine.
const times = { stock: 0, scanner: 0 };
for (let round = 0; round < 200; round++) {
  for (const [name, parser] of Object.entries({ stock, scanner })) {
    const start = performance.now();
    parser.parse(input);
    if (round >= 50) times[name] += performance.now() - start;
  }
}
console.log(`${(times.stock / times.scanner).toFixed(1)} times as fast`);
