/**
 * Runs the fuzzer, like `pegwire fuzz --target`, against parsers with each of the seeded faults of test/fuzz/faults.
 *
 *     npm run fuzz:faults -- --count 20000 --seed 1 --only accp
 *
 * Exit codes: 0 all faults are found, each with a text of fewer than 60 characters; 1 some are not; 2 invalid arguments.
 */
import { parseArgs } from 'node:util';
import { createHunter, type Fault, type Hunt, plantedFaults, SHORT } from '../test/fuzz/faults/hunt.js';

interface Arguments {
  readonly count: number;
  readonly seed: number;
  readonly faults: readonly Fault[];
}

function readArguments(): Arguments | string {
  try {
    const { values } = parseArgs({
      options: {
        count: { type: 'string', default: '20000' },
        seed: { type: 'string', default: '1' },
        only: { type: 'string', default: '' },
      },
    });
    const count = Number(values.count);
    const seed = Number(values.seed);
    if (!Number.isSafeInteger(count) || count < 1) return `--count must be a positive integer; got ${values.count}`;
    if (!Number.isSafeInteger(seed)) return `--seed must be an integer; got ${values.seed}`;
    const faults = plantedFaults().filter(({ id, protocol }) => `${protocol} ${id}`.includes(values.only));
    return faults.length === 0 ? `--only ${values.only} matches no fault` : { count, seed, faults };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

const COLUMNS = [30, 8, 20] as const;

function line(id: string, inputs: string, kind: string, text: string): string {
  return [id.padEnd(COLUMNS[0]), inputs.padStart(COLUMNS[1]), kind.padEnd(COLUMNS[2]), text].join('  ');
}

function row({ protocol, id }: Fault, { finding, inputs }: Hunt): string {
  const name = `${protocol} ${id}`;
  if (finding === null) return line(name, `> ${inputs}`, 'not found', '');
  const { length } = finding.input;
  const shown = JSON.stringify(finding.input.slice(0, 2 * SHORT)).replace(/[^ -~]/g, escaped);
  return line(name, String(inputs), finding.kind, `${shown} (${length}${length < SHORT ? '' : ', too long'})`);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Prints progress on one line, if stderr is a terminal. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

async function main(): Promise<number> {
  const given = readArguments();
  if (typeof given === 'string') {
    console.error(`${given}\nUsage: npm run fuzz:faults -- [--count N] [--seed N] [--only TEXT]`);
    return 2;
  }
  const { count, seed, faults } = given;
  console.log(`${faults.length} faults, at most ${count} texts for each, seed ${seed}`);
  console.log(line('fault', 'texts', 'finding', 'smallest text (length)'));
  const failed: string[] = [];
  for (const protocol of ['accp', 'aacp'] as const) {
    let current = '';
    const hunt = createHunter(protocol, {
      seed,
      count,
      onProgress: (inputs) => progress(`${current}: ${inputs} of ${count}`),
    });
    for (const fault of faults.filter((one) => one.protocol === protocol)) {
      current = fault.id;
      const found = await hunt(fault);
      progress('');
      console.log(row(fault, found));
      if (found.finding === null || found.finding.input.length >= SHORT) failed.push(fault.id);
    }
  }
  console.log(
    failed.length === 0
      ? `All ${faults.length} faults were found, each with a text of fewer than ${SHORT} characters.`
      : `${failed.length} of ${faults.length} faults were not found, or only with a text of at least ${SHORT} characters: ${failed.join(', ')}`,
  );
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
