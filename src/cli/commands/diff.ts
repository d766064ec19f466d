import path from 'node:path';
import { registryChanges } from '../../accp/registry/changes.js';
import { createRegistry, type Registry } from '../../accp/registry/registry.js';
import type { Grammar } from '../../fuzz/grammar/grammar.js';
import { generateSentences, NoSentenceError } from '../../fuzz/sentences/generate.js';
import { PegwireError } from '../../text/errors.js';
import { visible } from '../../text/visible.js';
import { libraryFault, UsageError } from '../io/errors.js';
import { readText } from '../io/files.js';
import { toJson } from '../io/json.js';
import type { Bar } from '../io/progress.js';
import { count } from '../io/report.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { grammarIn } from '../options/language.js';
import { integer, text, value } from '../options/option.js';

/** The default number of sentences of each grammar. */
const COUNT = 2000;

const OPTIONS = {
  count: value('N', `Grammars: try this many sentences of each (default: ${COUNT})`, integer({ from: 1 })),
  seed: value('N', 'Grammars: seed of the sentences (default: 1)', integer({ from: 0 })),
  start: text('RULE', 'Grammars: start with this rule (default: the first one)'),
};

type Run = Invocation<typeof OPTIONS>;

interface Change {
  readonly code: string;
  readonly isBreaking: boolean;
  readonly path?: string;
  readonly message: string;
  /** The shortest text that shows a change of a grammar. */
  readonly text?: string;
}

export const command = defineCommand({
  takes: { words: 'OLD NEW' },
  options: OPTIONS,
  details: [
    'Compares two registries (JSON, as pegwire registry learn writes them) by rules, or two Peggy grammars by sentences of each that the ' +
      'other one rejects. The exit code is 1 if a change is breaking: messages of agents with the old file are rejected, or read with ' +
      'another meaning. That no sentence shows a change does not prove that two grammars are equal.',
    'Code in a grammar file runs; use only files that you trust.',
  ],
  example: ['pegwire diff registry-1.json registry-2.json', 'pegwire diff old.peggy new.peggy --count 10000'],
  run: async (invocation) => {
    const [old, now, ...others] = invocation.words;
    if (old === undefined || now === undefined || others.length > 0)
      throw new UsageError('diff requires two files: the old one and the new one');
    const isGrammar = [old, now].map((file) => /\.(?:peggy|pegjs)$/.test(file));
    if (isGrammar[0] !== isGrammar[1]) throw new UsageError('diff compares two registries or two grammars (.peggy)');
    const changes = isGrammar[0]
      ? grammarChanges(invocation, [old, now])
      : registryChanges(registryIn(old), registryIn(now));
    return print(invocation, changes);
  },
});

function registryIn(file: string): Registry {
  try {
    return createRegistry(JSON.parse(readText(file)));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw new UsageError(`${file} is not JSON: ${thrown.message}`, 'unreadable');
    if (thrown instanceof PegwireError) throw libraryFault(thrown, file);
    if (thrown instanceof TypeError) throw new UsageError(`${file}: ${thrown.message}`, 'unreadable');
    throw thrown;
  }
}

function grammarChanges({ options, output }: Run, files: readonly [string, string]): readonly Change[] {
  const { start, seed = 1, count: most = COUNT } = options;
  const [old, now] = files.map((file) => grammarIn(file, start)) as [Grammar, Grammar];
  const isSame = old.name === now.name;
  const [oldName, newName] = isSame ? ['the old grammar', 'the new grammar'] : files.map((file) => path.basename(file));
  const removed = { from: old, to: now, seed, most, show: output.bar(`Reading sentences of ${oldName}`) };
  const added = { from: now, to: old, seed, most, show: output.bar(`Reading sentences of ${newName}`) };
  try {
    return [
      ...sampled('sentence-removed', true, removed, `of ${oldName} are no longer valid`),
      ...sampled('sentence-added', false, added, `of ${newName} were not valid before`),
    ];
  } catch (thrown) {
    if (thrown instanceof NoSentenceError) throw libraryFault(thrown);
    throw thrown;
  }
}

interface Sampling {
  readonly from: Grammar;
  readonly to: Grammar;
  readonly seed: number;
  readonly most: number;
  readonly show: Bar;
}

function sampled(code: string, isBreaking: boolean, { from, to, seed, most, show }: Sampling, what: string): Change[] {
  let shortest: string | undefined;
  let rejected = 0;
  let done = 0;
  for (const sentence of generateSentences(from, { seed, count: most })) {
    show(done++, most);
    if (to.parse(sentence).ok) continue;
    rejected++;
    if (shortest === undefined || sentence.length < shortest.length) shortest = sentence;
  }
  if (shortest === undefined) return [];
  return [{ code, isBreaking, message: `${rejected} of ${most} sentences ${what}.`, text: shortest }];
}

async function print({ output, json }: Run, changes: readonly Change[]): Promise<number> {
  const breaking = changes.filter(({ isBreaking }) => isBreaking).length;
  for (const change of changes) {
    if (json) {
      await output.result(toJson(change));
      continue;
    }
    const { code, isBreaking, path: place, message, text: shown } = change;
    const label = isBreaking
      ? output.paint(['red', 'bold'], `breaking[${code}]`)
      : output.paint('cyan', `change[${code}]`);
    const example = shown === undefined ? '' : ` The shortest one: ${visible(shown)}`;
    await output.result(`${label}: ${place === undefined ? '' : `${visible(place)}: `}${visible(message)}${example}`);
  }
  if (!json) await output.note(`${count(changes.length, 'change')}, ${breaking} breaking`);
  return breaking > 0 ? 1 : 0;
}
