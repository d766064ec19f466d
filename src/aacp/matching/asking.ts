/** Questions and headings: "what was the churn rate?" is answered by who fetches it, and by who works it out. */
import type { Analysis } from './analysis.js';

/** Actions that give what a question asks for. */
const ANSWERING: ReadonlySet<string> = new Set(['calculate', 'report']);

/** What nobody has until it is made for them. */
const MADE: ReadonlySet<string> = new Set(['report', 'summary', 'overview', 'breakdown', 'management-accounts']);

function isMade({ contents }: Analysis): boolean {
  return contents.some(({ key }) => MADE.has(key));
}

const readings = new WeakMap<Analysis, Map<string, Analysis>>();

/** A question or a heading as an order of the kind that another instruction is; any other as it stands. */
export function readAs(asked: Analysis, other: Analysis): Analysis {
  const [action] = other.actions;
  if (!asked.asks || asked.actions[0] !== 'fetch' || other.actions.length !== 1) return asked;
  if (action === undefined || !(ANSWERING.has(action) || (action === 'create' && isMade(asked)))) return asked;
  const known = readings.get(asked) ?? new Map<string, Analysis>();
  readings.set(asked, known);
  const made = known.get(action) ?? withAction(asked, action);
  known.set(action, made);
  return made;
}

function withAction(asked: Analysis, action: string): Analysis {
  const heads = [...asked.heads].map(([group, words]) => [group.replace(/^fetch /, `${action} `), words] as const);
  return { ...asked, actions: [action], heads: new Map(heads), asks: false };
}
