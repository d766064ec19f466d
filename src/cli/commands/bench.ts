import path from 'node:path';
import { raceChart } from '../../bench/chart.js';
import { thisMachine } from '../../bench/machine.js';
import type { RaceSection } from '../../bench/result.js';
import { shortRun } from '../../bench/short.js';
import { sectionTable, textTable } from '../../bench/table.js';
import { makeFolders } from '../../storage/paths.js';
import { tryFolder, writeText, writing } from '../io/files.js';
import { toJson } from '../io/json.js';
import { packageVersion } from '../io/package.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { duration, text, value } from '../options/option.js';

const DURATION = 10_000;

export const command = defineCommand({
  takes: 'optional-protocol',
  details: 'Without a protocol, measures both. Compares with JSON.parse and the other parsers that are installed.',
  options: {
    duration: value(
      'DURATION',
      'Measure for about this long, at most 1h (default: 10s)',
      duration({ isPositive: true, max: '1h' }),
    ),
    output: text('DIR', 'Also write results.json and charts to this folder'),
  },
  example: 'pegwire bench accp',
  run: async (invocation) => {
    const { protocols, output, json } = invocation;
    const { duration: durationMs = DURATION, output: folder } = invocation.options;
    const machine = thisMachine();
    const run = { date: new Date().toISOString(), pegwire: packageVersion(), machine };
    // Fails before a long run.
    if (folder !== undefined) await tryFolder(folder);
    const measured: RaceSection[] = [];
    if (json) await output.result(toJson(run));
    else
      await output.note(`pegwire ${packageVersion()}, Node ${machine.node}, ${machine.cpu} (${machine.cores} cores)`);
    for (const { name } of protocols) {
      const onProgress = async (what: string, share: number): Promise<void> => {
        output.progress(`${name}: ${what}, ${Math.round(share * 100)} %`);
        // Lets the event loop handle signals.
        await new Promise((resolve) => setImmediate(resolve));
      };
      const sections = await shortRun(name, { durationMs: durationMs / protocols.length, onProgress });
      output.progress('');
      for (const section of sections) await show(section, invocation);
      measured.push(...sections);
    }
    if (folder !== undefined) {
      const results = { ...run, sections: measured };
      try {
        await save(folder, results, `${machine.cpu}, Node ${machine.node}`);
      } catch (thrown) {
        // With --json, stdout has the results already.
        if (!json) await output.result(toJson(results));
        throw thrown;
      }
      await output.note(`Results written to ${folder}`);
    }
    return 0;
  },
});

async function show(section: RaceSection, { output, json }: Pick<Invocation, 'output' | 'json'>): Promise<void> {
  if (json) {
    await output.result(toJson(section));
    return;
  }
  await output.result(`\n${output.paint('bold', section.title)}\n${textTable(sectionTable(section))}`);
  for (const { name, why } of section.missing ?? []) await output.note(`Not measured: ${name} (${why})`);
}

async function save(
  folder: string,
  results: { readonly sections: readonly RaceSection[] },
  machine: string,
): Promise<void> {
  writing(folder, () => makeFolders(folder));
  writeText(path.join(folder, 'results.json'), `${toJson(results)}\n`);
  for (const section of results.sections) {
    // Sections with several groups are tables.
    if (section.groups.length === 1) writeText(path.join(folder, `${section.id}.svg`), raceChart(section, machine));
  }
}
