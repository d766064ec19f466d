/** Packets of a language, the same ones each time: what an instruction shows. */
import type { Field, Narrowing } from './narrowing.js';

/** Values of the keys that section 4 of draft-mackay-aacp-01 shows, and of any other. */
const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  return: ['HR-Agent', 'FIN-Agent'],
  res: ['emp_salary', 'invoices'],
  period: ['2024-08', '2024-Q3'],
  filter: ['status=active', 'dept=ops'],
  fields: ['id,name', 'id'],
  fmt: ['json', 'csv'],
};
const OTHER_SAMPLES = ['two words', 'a:b'];

const TASKS = ['FETCH', 'LOG'];
const DOMAINS = ['HR', 'FIN'];
/** What follows the first fields where any may. */
const FREE = ['|res:emp_salary|period:2024-08|filter:status=active', '|actor:HR-Agent|status:review required'];

/** A packet with all that may stand in it, and a short one with the last of the words to choose from; one if they are the same. */
export function packetExamples(narrowing: Narrowing, fields: readonly Field[]): readonly string[] {
  return [...new Set([example(narrowing, fields, 0), example(narrowing, fields, 1)])];
}

function example({ tasks, domains, others }: Narrowing, fields: readonly Field[], variant: 0 | 1): string {
  const shown = variant === 0 ? fields : fields.filter(({ optional }) => !optional);
  const slots = shown.map(({ key, values }) => {
    const samples = (Object.hasOwn(SAMPLES, key) && SAMPLES[key]) || OTHER_SAMPLES;
    return `${key}:${ends(values ?? samples, variant)}`;
  });
  const head = [ends(tasks ?? TASKS, variant), ends(domains ?? DOMAINS, variant), ...slots].join('|');
  return others ? head + FREE[variant]! : head;
}

/** The first, or the last. */
function ends<T>(list: readonly T[], variant: 0 | 1): T {
  return variant === 0 ? list[0]! : list.at(-1)!;
}
