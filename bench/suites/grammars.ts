/** The plugin on Peggy's own example grammars, unmodified: Peggy alone and Peggy with the plugin. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Section } from '../../src/bench/result.js';
import { significant } from '../../src/bench/table.js';
import { flat, handling } from '../../src/bench/workload.js';
import { compileWithPeggy, generate } from '../candidates/stock-peggy.js';
import { cssDocument, jsonDocument } from '../corpus/documents.js';
import { projectRoot } from '../root.js';
import { type RaceTiming, type RunnerGroup, runRaces } from './contest.js';

export const STOCK = 'stock Peggy';
export const FAST = 'with the plugin';

export async function grammars(timing: RaceTiming): Promise<Section[]> {
  const groups = [await exampleGroup('json', jsonDocument()), await exampleGroup('css', cssDocument())];
  return [
    await runRaces(
      {
        ...{ id: 'grammars', title: "Peggy's example grammars", unit: 'document', anchor: STOCK },
        note: 'The unmodified grammars of pegjs 0.10; a JSON document of 26 KB and a style sheet of 38 KB.',
      },
      groups,
      timing,
    ),
    {
      ...{ kind: 'facts', id: 'grammar-sizes', title: 'Code size, gzip, in kB' },
      columns: ['', STOCK, FAST, 'standalone'],
      rows: [await sizes('json'), await sizes('css')],
    },
  ];
}

async function sizes(name: 'json' | 'css'): Promise<(string | number)[]> {
  const { default: fast } = await import('../../src/peggy-fast/peggy-plugin.js');
  const grammar = exampleGrammar(name);
  const codes = [
    await generate(grammar, {}),
    await generate(grammar, { plugins: [fast] }),
    await generate(grammar, { plugins: [fast], fast: { standalone: true } }),
  ];
  return [name.toUpperCase(), ...codes.map((code) => significant(gzipSync(code, { level: 9 }).length / 1000))];
}

function exampleGrammar(name: 'json' | 'css'): string {
  return readFileSync(path.join(projectRoot(), 'node_modules/pegjs/examples', `${name}.pegjs`), 'utf8');
}

/** @throws Error if the results of the two parsers differ */
export async function exampleGroup(name: 'json' | 'css', document: string): Promise<RunnerGroup> {
  const { default: fast } = await import('../../src/peggy-fast/peggy-plugin.js');
  const grammar = exampleGrammar(name);
  const stock = await compileWithPeggy(grammar);
  const plugged = await compileWithPeggy(grammar, { plugins: [fast] });
  const text = flat(document);
  if (!isDeepStrictEqual(stock.parse(text), plugged.parse(text))) throw new Error(`${name}: different results`);
  return {
    ...{ name: name.toUpperCase(), units: 1, characters: text.length },
    runners: [handling(STOCK, (one) => stock.parse(one), [text]), handling(FAST, (one) => plugged.parse(one), [text])],
  };
}
