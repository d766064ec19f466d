/** Single entries of the registry: listed, shown, removed. */
import type { Registry, RegistryEntry } from '../../aacp/fallback/index.js';
import { quoted, visible } from '../../text/visible.js';
import { dollars } from '../commands/encode/english-report.js';
import { toJson } from '../io/json.js';
import type { Invocation } from '../options/command.js';
import { count } from '../session/notes.js';
import { tellNothing } from './refusal.js';

/** Digits of a key that a list shows. */
const SHOWN = 12;

export async function listEntries(registry: Registry, invocation: Invocation): Promise<number> {
  return tellEntries(registry.entries(filterOf(invocation)), invocation);
}

/** Those that no rule covers: what a rule could be written for, most asked for first. */
export async function listPending(registry: Registry, invocation: Invocation): Promise<number> {
  const pending = [...registry.entries(filterOf(invocation))].filter(({ covered }) => covered !== true);
  return tellEntries(
    pending.sort((a, b) => b.timesSeen - a.timesSeen || b.lastSeen - a.lastSeen),
    invocation,
  );
}

export async function showEntry(registry: Registry, invocation: Invocation, word: string): Promise<number> {
  const entry = await oneEntry(registry, invocation, word);
  if (entry === null) return 1;
  const { json, output } = invocation;
  await output.result(json ? toJson(entryData(entry)) : entryText(entry, output.paint));
  return 0;
}

export async function removeEntry(registry: Registry, invocation: Invocation, word: string): Promise<number> {
  const entry = await oneEntry(registry, invocation, word);
  if (entry === null) return 1;
  registry.remove(entry.key);
  const { json, output } = invocation;
  await output.result(json ? toJson({ removed: entryData(entry) }) : `removed: ${entryLine(entry)}`);
  return 0;
}

function filterOf({ options }: Invocation): { readonly domain: string | undefined } {
  const domain = options['domain'];
  return { domain: typeof domain === 'string' ? domain.toUpperCase() : undefined };
}

async function tellEntries(entries: Iterable<RegistryEntry>, { json, output }: Invocation): Promise<number> {
  let number = 0;
  for (const entry of entries) {
    number++;
    await output.result(json ? toJson(entryData(entry)) : entryLine(entry));
  }
  if (!json) await output.note(count(number, 'entry', 'entries'));
  return 0;
}

/** `null` when there is none, or more than one, which has been told then. */
async function oneEntry(registry: Registry, invocation: Invocation, word: string): Promise<RegistryEntry | null> {
  const found: RegistryEntry[] = [];
  const digits = word.toLowerCase();
  for (const entry of registry.entries()) {
    if (entry.key === digits) return entry;
    if (entry.key.startsWith(digits) || entry.id === digits) found.push(entry);
  }
  if (found.length === 1) return found[0]!;
  const message =
    found.length === 0
      ? `There is no entry whose key begins with "${word}".`
      : `${found.length} entries are called "${word}": ${found.map(({ key }) => key.slice(0, SHOWN)).join(', ')}.`;
  await tellNothing(invocation, 'no-entry', message);
  return null;
}

/** What is for finding it stays with the registry. */
function entryData({ terms: _, ...entry }: RegistryEntry): object {
  return entry;
}

function entryLine({ key, timesSeen, packet, instruction }: RegistryEntry): string {
  return `${key.slice(0, SHOWN)}  ${String(timesSeen).padStart(4)}x  ${visible(packet)}  ${quoted(instruction)}`;
}

function entryText(entry: RegistryEntry, paint: Invocation['output']['paint']): string {
  const { key, id, instruction, packet, returnAgent, priority, domain, origin, model, cost, created, covered } = entry;
  const rows = [
    ['key', key],
    ['id', id],
    ['instruction', instruction],
    ['packet', packet],
    ['asked for', `${domain}, for ${returnAgent}, priority ${priority}`],
    ['from', model === null ? origin : `${origin}: ${model}`],
    ['cost', cost === null ? 'unknown' : dollars(cost)],
    ['made', timeText(created)],
    ['seen', `${count(entry.timesSeen, 'time')}, last at ${timeText(entry.lastSeen)}`],
    ['rule', covered === true ? 'a rule covers it' : 'no rule covers it: it is pending'],
  ] as const;
  return rows.map(([name, value]) => `${paint('bold', name.padEnd(11))} ${visible(value)}`).join('\n');
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
