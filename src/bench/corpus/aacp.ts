/** The AACP corpus: seeded packets of 24 to 528 characters. */
import { parsePacket } from '../../aacp/index.js';
import { createRandom, type Random } from '../../text/random.js';
import type { Category, Sample } from '../candidate.js';
import { plainPacket } from '../plain.js';
import type { Half } from './texts.js';
import { hex, words } from './values.js';

/** The examples of draft-mackay-aacp-01, sections 4 and 6. */
const EXAMPLES: readonly string[] = [
  'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|fmt:json',
  'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08|filter:status=active|fmt:json',
  'LOG|HR|return:AUD-Agent|p:2|aacp:1.1|actor:ORCHESTRATOR|chain:HR-AGENT,FIN-AGENT|status:review_required',
  'ACK|HR|return:A|aacp:1.1',
];

const TASKS = ['FETCH', 'CALC', 'VALIDATE', 'NOTIFY', 'LOG', 'ROUTE', 'APPROVE', 'UPDATE'];
const DOMAINS = ['HR', 'FIN', 'IT', 'OPS', 'LEGAL', 'SALES'];
const KEYS = [
  ...['actor', 'amt', 'att', 'body', 'chain', 'cur', 'emp', 'fields', 'filter', 'fmt', 'from', 'note', 'period'],
  ...['batch', 'ref', 'status', 'subj', 'team', 'to', 'total', 'type', 'unit'],
];

function packetSample(text: string): Sample {
  return { text, json: JSON.stringify(plainPacket(parsePacket(text))) };
}

export function mixedPackets(half: Half = 'unseen'): Sample[] {
  const random = createRandom(half === 'tuning' ? 2 : 1002);
  const generated = Array.from({ length: 36 }, (_, index) => packet(random, 60 * 8.4 ** (index / 35)));
  return [...EXAMPLES, ...generated].map(packetSample);
}

export function packetCategories(): Category[] {
  const all = mixedPackets();
  const between = (min: number, max: number): Sample[] =>
    all.filter(({ text }) => text.length >= min && text.length < max);
  return [
    { name: 'under 100 characters', samples: between(0, 100) },
    { name: '100 to 250 characters', samples: between(100, 250) },
    { name: '250 characters or more', samples: between(250, Number.POSITIVE_INFINITY) },
  ];
}

function packet(random: Random, length: number): string {
  const slots = [
    random.pick(TASKS),
    random.pick(DOMAINS),
    `return:${random.pick(DOMAINS)}-Agent`,
    `p:${random.integer(1, 3)}`,
    'aacp:1.1',
    `res:${words(random, 1, 2)}`,
  ];
  const keys = random.sample(KEYS, KEYS.length);
  let size = slots.join('|').length;
  for (const key of keys) {
    if (size >= length) break;
    const slot = `${key}:${value(random)}`;
    slots.push(slot);
    size += slot.length + 1;
  }
  return slots.join('|');
}

function value(random: Random): string {
  switch (random.integer(0, 5)) {
    case 0:
      return `${random.integer(1, 9999)}.${random.integer(1, 99)}`;
    case 1:
      return `rpt://${words(random, 1, 1)}/2024-0${random.integer(1, 9)}:pdf`;
    case 2:
      return words(random, 4, 9).replaceAll('_', ' ');
    case 3:
      return hex(random, 12);
    default:
      return words(random, 1, 3);
  }
}
