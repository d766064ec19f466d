/** Instructions that differ in more than their date, with their packets, to fill registries. */

import { instructionId, type NewEntry, normaliseInstruction, registryKey } from '../../src/aacp/fallback/index.js';
import { termsOf } from '../../src/aacp/matching/wording.js';

const ACTIONS = [
  { verb: 'Fetch', task: 'FETCH' },
  { verb: 'Calculate', task: 'CALC' },
  { verb: 'Merge', task: 'MERGE' },
  { verb: 'Flag', task: 'FLAG' },
  { verb: 'Send', task: 'SEND' },
] as const;
const DOMAINS = ['HR', 'FIN', 'IT', 'LEGAL', 'SALES', 'CS', 'MKT'] as const;
const KINDS = words(
  'overdue draft archived approved rejected regional seasonal urgent internal external audited frozen',
);
const THINGS = words(
  'timesheets invoices contracts tickets leads campaigns licences shipments refunds claims vouchers permits quotes leases ' +
    'subsidies audits orders stipends grants tariffs',
);
const PLACES = words(
  'Leeds Bristol Cardiff Glasgow Belfast Oxford Exeter Norwich Dublin Cork Lyon Nantes Turin Genoa Porto Seville Malmo Bergen ' +
    'Aarhus Tampere Gdansk Brno Graz Basel Ghent Utrecht Bonn Kassel Nancy Bari Zadar Split Varna Cluj Riga Tartu Kaunas Lublin ' +
    'Ostrava Linz',
);
const TEAMS = words(
  'alpine bakery ceramic dairy fabric garden harbour island jewel kitchen lumber marble nursery orchard',
);
export const MONTHS = words('January February March April May June July August September October November December');
/** The number of entries per domain, more than the largest registry needs. */
const KINDS_OF_ENTRIES = ACTIONS.length * KINDS.length * THINGS.length * PLACES.length;
const YEAR = 2024;
const DAY = 14;

function words(list: string): string[] {
  return list.split(' ');
}

/** An instruction, and its packet. */
export interface KnownInstruction {
  readonly instruction: string;
  readonly domain: (typeof DOMAINS)[number];
  readonly packet: string;
}

/**
 * Makes the instruction with a number, for a day of a month (0 is January). Instructions with the same number differ
 * only in their date.
 */
export function known(number: number, month: number, year = YEAR, day = DAY): KnownInstruction {
  const domain = DOMAINS[number % DOMAINS.length]!;
  // Steps through all combinations without similar neighbors. The step and the number of combinations are coprime.
  let rest = (Math.floor(number / DOMAINS.length) * 7919) % KINDS_OF_ENTRIES;
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[rest % items.length]!;
    rest = Math.floor(rest / items.length);
    return item;
  };
  const { verb, task } = pick(ACTIONS);
  const [kind, thing, place] = [pick(KINDS), pick(THINGS), pick(PLACES)];
  const team = TEAMS[number % TEAMS.length]!;
  const period = `${year}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  return {
    instruction: `${verb} the ${kind} ${thing} of the ${team} team in ${place} for ${day} ${MONTHS[month]!} ${year}.`,
    domain,
    packet: `${task}|${domain}|return:${agentOf(domain)}|p:2|aacp:1.1|res:${kind}_${thing}|period:${period}|filter:team=${team},site=${place}|fmt:json`,
  };
}

function agentOf(domain: string): string {
  return domain === 'LEGAL' ? 'LEG-Agent' : `${domain}-Agent`;
}

/** Converts an instruction to an entry of a registry. */
export function entryOf({ instruction, domain, packet }: KnownInstruction): NewEntry {
  const normalised = normaliseInstruction(instruction);
  const request = { normalised, domain, returnAgent: agentOf(domain), priority: '2', version: '1.1' };
  return {
    ...request,
    ...{ key: registryKey(request), id: instructionId(normalised), instruction, packet, terms: termsOf(instruction) },
    ...{ origin: 'model', model: 'none', cost: 0.002 },
  };
}
