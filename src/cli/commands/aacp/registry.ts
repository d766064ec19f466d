import {
  defaultRegistryFile,
  exportPatterns,
  importPatterns,
  type Registry,
  type RegistryEntry,
} from '../../../aacp/fallback/index.js';
import { quoted, visible } from '../../../text/visible.js';
import { isPostgres } from '../../io/databases.js';
import { didYouMean, UsageError } from '../../io/errors.js';
import { readText } from '../../io/files.js';
import { toJson } from '../../io/json.js';
import type { Paint } from '../../io/output.js';
import { count, noteNothing } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { alternatives, duration, text, value } from '../../options/option.js';
import { dollars, openRegistry, registryFault } from './open-registry.js';

const OPTIONS = {
  registry: text('FILE', "Registry file or postgres:// database (default: registry.db in the user's data folder)"),
  domain: text('DOM', 'Print only the entries of this domain (list, pending)'),
  'older-than': value(
    'DURATION',
    'Remove the entries that are older than this, for example 30d (purge)',
    duration({ isPositive: true }),
  ),
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: '[stats] | list | pending | show KEY | remove KEY | import FILE | export | purge' },
  options: OPTIONS,
  details: [
    '"stats" prints counts and costs; "list" prints all entries; "pending" prints those that no rule covers, most frequent first; ' +
      '"show" prints one in full; "remove" removes one; "import" reads an unknown_patterns.json of the reference SDK, and "export" ' +
      'prints one; "purge" removes the entries that are older than --older-than.',
    'KEY is the start of a key, or the id of an instruction.',
  ],
  example: 'pegwire aacp registry pending --domain HR',
  run,
});

interface Action {
  readonly word: 'KEY' | 'FILE' | null;
  readonly creates?: true;
  readonly writes?: true;
  readonly run: (registry: Registry, invocation: Run, word: string) => Promise<number>;
}

const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['stats', { word: null, run: showStatistics }],
  ['list', { word: null, run: (registry, invocation) => showEntries(entriesOf(registry, invocation), invocation) }],
  ['pending', { word: null, run: listPending }],
  ['show', { word: 'KEY', run: showEntry }],
  ['remove', { word: 'KEY', writes: true, run: removeEntry }],
  ['import', { word: 'FILE', creates: true, writes: true, run: importFile }],
  ['export', { word: null, run: exportEntries }],
  ['purge', { word: null, writes: true, run: purge }],
] satisfies (readonly [string, Action])[]);

async function run(invocation: Run): Promise<number> {
  const { words, options } = invocation;
  const [name = 'stats', word, extra] = words;
  const action = ACTIONS.get(name);
  const names = [...ACTIONS.keys()];
  if (action === undefined)
    throw new UsageError(`Unknown action "${name}"${didYouMean(name, names) || `; expected ${alternatives(names)}`}`);
  if (action.word !== null && word === undefined)
    throw new UsageError(`aacp registry ${name} requires a ${action.word}`);
  const surplus = action.word === null ? word : extra;
  if (surplus !== undefined)
    throw new UsageError(
      `aacp registry ${name} takes ${action.word === null ? 'no arguments' : `one ${action.word}`}; remove "${surplus}"`,
    );
  checkOptions(name, options);

  const registry = await openRegistry(invocation, {
    file: options.registry,
    create: action.creates === true,
    otherwise: action.writes === true ? undefined : 'read-only',
    ttlMs: options['older-than'],
  });
  try {
    return await action.run(registry, invocation, word ?? '');
  } catch (thrown) {
    throw registryFault(thrown);
  } finally {
    registry.close();
  }
}

function checkOptions(name: string, options: Run['options']): void {
  const age = options['older-than'];
  if (age !== undefined && name !== 'purge') throw new UsageError('--older-than applies only to purge');
  if (age === undefined && name === 'purge')
    throw new UsageError('purge requires --older-than, for example --older-than 30d');
  if (options.domain !== undefined && name !== 'list' && name !== 'pending')
    throw new UsageError('--domain applies only to list and pending');
}

async function showStatistics(registry: Registry, { json, output, options }: Run): Promise<number> {
  const statistics = registry.statistics();
  // A missing file is an empty registry.
  const isDatabase = options.registry !== undefined && isPostgres(options.registry);
  // The URL may hold a password.
  const file = isDatabase ? 'a PostgreSQL database' : (registry.file ?? options.registry ?? defaultRegistryFile());
  const exists = isDatabase || registry.file !== null;
  if (json) {
    await output.result(toJson({ file, exists, ...statistics }));
    return 0;
  }
  const { entries, timesSeen, served, pending, spent, saved, unpriced, byDomain } = statistics;
  const domains = Object.entries(byDomain).map(([domain, number]) => `${domain} ${number}`);
  const unknown = unpriced === 0 ? '' : ` (without ${count(unpriced, 'entry', 'entries')} of unknown cost)`;
  const rows = [
    ['file', exists ? file : `${file} (does not exist yet)`],
    ['entries', `${entries}${domains.length === 0 ? '' : `: ${domains.join(', ')}`}`],
    ['requested', count(timesSeen, 'time')],
    ['served', `${count(served, 'time')} without a model`],
    ['pending', `${pending} without a rule`],
    ['spent', dollars(spent) + unknown],
    ['saved', dollars(saved) + unknown],
  ] as const;
  for (const [name, value] of rows) await output.result(`${output.paint('bold', name.padEnd(11))} ${value}`);
  return 0;
}

async function purge(registry: Registry, { json, output }: Run): Promise<number> {
  const removed = registry.purge();
  await output.result(json ? toJson({ removed }) : `${count(removed, 'entry', 'entries')} removed`);
  return 0;
}

const SHOWN = 12;

async function listPending(registry: Registry, invocation: Run): Promise<number> {
  const pending = [...entriesOf(registry, invocation)].filter(({ covered }) => covered !== true);
  pending.sort((a, b) => b.timesSeen - a.timesSeen || b.lastSeenAt - a.lastSeenAt);
  return showEntries(pending, invocation);
}

async function showEntry(registry: Registry, invocation: Run, word: string): Promise<number> {
  const entry = await oneEntry(registry, invocation, word);
  if (entry === null) return 1;
  const { json, output } = invocation;
  await output.result(json ? toJson(entryData(entry)) : entryText(entry, output.paint));
  return 0;
}

async function removeEntry(registry: Registry, invocation: Run, word: string): Promise<number> {
  const entry = await oneEntry(registry, invocation, word);
  if (entry === null) return 1;
  registry.remove(entry.key);
  const { json, output } = invocation;
  await output.result(json ? toJson({ removed: entryData(entry) }) : `removed: ${entryLine(entry)}`);
  return 0;
}

function entriesOf(registry: Registry, { options }: Run): Iterable<RegistryEntry> {
  return registry.entries({ domain: options.domain?.toUpperCase() });
}

async function showEntries(entries: Iterable<RegistryEntry>, { json, output }: Run): Promise<number> {
  let number = 0;
  for (const entry of entries) {
    number++;
    await output.result(json ? toJson(entryData(entry)) : entryLine(entry));
  }
  if (!json) await output.note(count(number, 'entry', 'entries'));
  return 0;
}

/** Finds the one entry of a key. @returns `null` if there is none or more than one, after reporting it */
async function oneEntry(registry: Registry, invocation: Run, word: string): Promise<RegistryEntry | null> {
  const found: RegistryEntry[] = [];
  const digits = word.toLowerCase();
  for (const entry of registry.entries()) {
    if (entry.key === digits) return entry;
    if (entry.key.startsWith(digits) || entry.id === digits) found.push(entry);
  }
  if (found.length === 1) return found[0]!;
  const message =
    found.length === 0
      ? `No entry has a key that starts with "${word}".`
      : `${found.length} entries match "${word}": ${found.map(({ key }) => key.slice(0, SHOWN)).join(', ')}; give more digits of the key.`;
  await noteNothing(invocation, 'no-entry', message);
  return null;
}

function entryData({ terms: _, ...entry }: RegistryEntry): object {
  return entry;
}

function entryLine({ key, timesSeen, packet, instruction }: RegistryEntry): string {
  return `${key.slice(0, SHOWN)}  ${String(timesSeen).padStart(4)}x  ${visible(packet)}  ${quoted(instruction)}`;
}

function entryText(entry: RegistryEntry, paint: Paint): string {
  const { key, id, instruction, packet, returnAgent, priority, domain, origin, model, cost, createdAt, covered } =
    entry;
  const rows = [
    ['key', key],
    ['id', id],
    ['instruction', instruction],
    ['packet', packet],
    ['request', `domain ${domain}, return agent ${returnAgent}, priority ${priority}`],
    ['source', model === null ? origin : `${origin}: ${model}`],
    ['cost', cost === null ? 'unknown' : dollars(cost)],
    ['created', isoTime(createdAt)],
    ['requested', `${count(entry.timesSeen, 'time')}, last at ${isoTime(entry.lastSeenAt)}`],
    ['rule', covered === true ? 'covered by a rule' : 'pending: no rule covers it'],
  ] as const;
  return rows.map(([name, value]) => `${paint('bold', name.padEnd(11))} ${visible(value)}`).join('\n');
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

async function importFile(registry: Registry, { json, output }: Run, file: string): Promise<number> {
  const report = importPatterns(registry, readText(file));
  const { imported, merged, rewritten, skipped } = report;
  if (json) await output.result(toJson(report));
  else {
    for (const { index, id, reason } of skipped)
      await output.note(
        `${visible(file)}: entry ${index + 1}${id === null ? '' : ` (${visible(id)})`}: ${visible(reason)}`,
      );
    const parts = [`${imported} imported`, `${merged} merged`, `${rewritten} rewritten`, `${skipped.length} skipped`];
    await output.result(parts.join(', '));
  }
  return skipped.length > 0 ? 1 : 0;
}

async function exportEntries(registry: Registry, { json, output }: Run): Promise<number> {
  const text = exportPatterns(registry);
  await output.result(json ? toJson(JSON.parse(text)) : text.trimEnd());
  return 0;
}
