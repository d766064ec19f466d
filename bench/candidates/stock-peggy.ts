/** The grammars of pegwire with Peggy alone, without its plugin. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'peggy';
import type { Candidate, Read } from '../../src/bench/candidate.js';
import type { FastOptions } from '../../src/peggy-fast/peggy-plugin.js';
import { projectRoot } from '../root.js';

export const stockPeggyAccp: Candidate = stock('accp');
export const stockPeggyAacp: Candidate = stock('aacp');

function stock(protocol: 'accp' | 'aacp'): Candidate {
  return {
    id: `stock-peggy-${protocol}`,
    name: 'stock Peggy',
    protocol,
    builds: 'ast',
    prepare: () => compileStock(protocol),
  };
}

/** Compiles a grammar of pegwire with Peggy alone. */
export async function compileStock(protocol: 'accp' | 'aacp'): Promise<Read> {
  const { parse } = await load(await stockSource(protocol));
  return (text) => parse(text);
}

export async function stockSource(protocol: 'accp' | 'aacp'): Promise<string> {
  return generate(readFileSync(path.join(projectRoot(), `grammar/${protocol}.peggy`), 'utf8'), {});
}

export interface PeggyParser {
  readonly parse: (text: string, options?: object) => unknown;
}

/** Compiles a grammar and loads the parser as a module, as in a project, instead of with `eval`. */
export async function compileWithPeggy(
  grammar: string,
  options: { readonly plugins?: Plugin[] } = {},
): Promise<PeggyParser> {
  return load(await generate(grammar, options));
}

/** Generates the code of a parser, as an ES module. */
export async function generate(
  grammar: string,
  options: { readonly plugins?: Plugin[]; readonly fast?: FastOptions },
): Promise<string> {
  const { default: peggy } = await import('peggy');
  return peggy.generate(grammar, { ...options, format: 'es', output: 'source' });
}

/** Loads the code of a parser. */
export async function load(source: string): Promise<PeggyParser> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-'));
  try {
    const file = path.join(folder, 'parser.mjs');
    writeFileSync(file, source);
    return (await import(pathToFileURL(file).href)) as PeggyParser;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
