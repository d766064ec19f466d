/** The work of `pegwire aacp registry`. */
import { defaultRegistryFile, type Registry } from '../../../aacp/fallback/index.js';
import { listEntries, listPending, removeEntry, showEntry } from '../../aacp/registry-entries.js';
import { exportEntries, importFile } from '../../aacp/registry-files.js';
import { toJson } from '../../io/json.js';
import { didYouMean, type Invocation, UsageError } from '../../options/command.js';
import { count } from '../../session/notes.js';
import { dollars } from '../encode/english-report.js';
import { openRegistry, registryFault } from './open-registry.js';

interface Action {
  /** What it needs behind its name. */
  readonly word: 'KEY' | 'FILE' | null;
  /** Whether it makes the registry where there is none. */
  readonly creates?: true;
  /** Whether it changes the registry. */
  readonly writes?: true;
  /** @returns the exit code */
  readonly run: (registry: Registry, invocation: Invocation, word: string) => Promise<number>;
}

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['stats', { word: null, run: showStatistics }],
  ['list', { word: null, run: listEntries }],
  ['pending', { word: null, run: listPending }],
  ['show', { word: 'KEY', run: showEntry }],
  ['remove', { word: 'KEY', writes: true, run: removeEntry }],
  ['import', { word: 'FILE', creates: true, writes: true, run: importFile }],
  ['export', { word: null, run: exportEntries }],
  ['purge', { word: null, writes: true, run: purge }],
] satisfies (readonly [string, Action])[]);

const DAY = 86_400_000;

/** @returns the exit code: 1 when there is no such entry, or when entries of a file were not taken */
export async function runRegistry(invocation: Invocation): Promise<number> {
  const { words, options } = invocation;
  const [name = 'stats', word, extra] = words;
  const action = ACTIONS.get(name);
  const names = [...ACTIONS.keys()];
  if (action === undefined)
    throw new UsageError(`aacp registry takes ${names.join(', ')}, not "${name}"${didYouMean(name, names)}`);
  if (action.word !== null && word === undefined) throw new UsageError(`aacp registry ${name} needs a ${action.word}`);
  const surplus = action.word === null ? word : extra;
  if (surplus !== undefined) throw new UsageError(`aacp registry ${name}: "${surplus}" is one word too many`);
  checkOptions(name, options);

  const file = typeof options['registry'] === 'string' ? options['registry'] : undefined;
  const ttl = name === 'purge' ? olderThan(options['older-than']) : undefined;
  const registry = await openRegistry(invocation, {
    file,
    create: action.creates === true,
    otherwise: action.writes === true ? undefined : 'read-only',
    ttl,
  });
  try {
    return await action.run(registry, invocation, word ?? '');
  } catch (thrown) {
    throw registryFault(thrown);
  } finally {
    registry.close();
  }
}

function checkOptions(name: string, options: Invocation['options']): void {
  if (options['older-than'] !== undefined && name !== 'purge') throw new UsageError('--older-than goes with purge');
  if (options['domain'] !== undefined && name !== 'list' && name !== 'pending')
    throw new UsageError('--domain goes with list and pending');
}

/** Milliseconds. */
function olderThan(given: string | boolean | undefined): number {
  if (given === undefined)
    throw new UsageError('purge needs --older-than DAYS: packets are kept until you say otherwise');
  const days = Number(given);
  if (days > 0 && days < 1e6) return days * DAY;
  throw new UsageError(`--older-than is a number of days above 0, not "${String(given)}"`);
}

async function showStatistics(registry: Registry, { json, output, options }: Invocation): Promise<number> {
  const statistics = registry.statistics();
  // One that is not there yet is empty.
  const file = registry.file ?? (typeof options['registry'] === 'string' ? options['registry'] : defaultRegistryFile());
  if (json) {
    await output.result(toJson({ file, exists: registry.file !== null, ...statistics }));
    return 0;
  }
  const { entries, timesSeen, served, pending, spent, saved, unpriced, byDomain } = statistics;
  const domains = Object.entries(byDomain).map(([domain, number]) => `${domain} ${number}`);
  const unknown = unpriced === 0 ? '' : ` (${unpriced} of unknown price left out)`;
  const rows = [
    ['file', registry.file === null ? `${file} (there is none yet)` : file],
    ['entries', `${entries}${domains.length === 0 ? '' : `: ${domains.join(', ')}`}`],
    ['times seen', String(timesSeen)],
    ['served', `${count(served, 'time')} instead of a call`],
    ['pending', `${pending} that no rule covers`],
    ['spent', dollars(spent) + unknown],
    ['saved', dollars(saved) + unknown],
  ] as const;
  for (const [name, value] of rows) await output.result(`${output.paint('bold', name.padEnd(11))} ${value}`);
  return 0;
}

async function purge(registry: Registry, { json, output }: Invocation): Promise<number> {
  const removed = registry.purge();
  await output.result(json ? toJson({ removed }) : `${count(removed, 'entry', 'entries')} removed`);
  return 0;
}
