/** The plugin on Peggy's own example grammars, unmodified: Peggy alone against Peggy with it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RaceSection } from '../../src/bench/result.js';
import { flat, reading } from '../../src/bench/workload.js';
import { compileWithPeggy } from '../candidates/stock-peggy.js';
import { cssDocument, jsonDocument } from '../corpus/documents.js';
import { projectRoot } from '../root.js';
import { type Heat, holdRaces, type Pace } from './contest.js';

export const STOCK = 'stock Peggy';
export const FAST = 'with the plugin';

export async function grammars(pace: Pace): Promise<RaceSection[]> {
  const heats = [await exampleHeat('json', jsonDocument()), await exampleHeat('css', cssDocument())];
  return [
    await holdRaces(
      {
        ...{ id: 'grammars', title: "Peggy's example grammars", unit: 'document', anchor: STOCK },
        note: 'The grammars of pegjs 0.10 as they are; a JSON document and a style sheet of about 40 KB.',
      },
      heats,
      pace,
    ),
  ];
}

/** @throws Error where the two parsers give different results */
export async function exampleHeat(name: 'json' | 'css', document: string): Promise<Heat> {
  const { default: fast } = await import('../../src/engine/peggy-plugin.js');
  const file = path.join(projectRoot(), 'node_modules/pegjs/examples', `${name}.pegjs`);
  const grammar = readFileSync(file, 'utf8');
  const stock = await compileWithPeggy(grammar);
  const plugged = await compileWithPeggy(grammar, { plugins: [fast] });
  const text = flat(document);
  if (!isDeepStrictEqual(stock.parse(text), plugged.parse(text))) throw new Error(`${name}: different results`);
  return {
    ...{ name: name.toUpperCase(), units: 1, characters: text.length },
    runners: [reading(STOCK, (one) => stock.parse(one), [text]), reading(FAST, (one) => plugged.parse(one), [text])],
  };
}
