import type { Machine } from './machine.js';
import { judge, type Violation, violationOf } from './report.js';
import type { Unit } from './routines.js';
import type { Binding } from './scopes.js';
import type { Effect } from './summaries.js';
import type { Analysis, Block, Effects } from './types.js';
import { uncalledChanges } from './uncalled.js';

/** What the code of a unit changes that others see during the same parse. */
interface Changes {
  /** Per-parse variables; `null` for those of which the names are not known. */
  readonly state: Set<Binding | null>;
  labels: boolean;
}

/** Draws the conclusions, once everything has been evaluated. */
export function summarize(machine: Machine, blocks: ReadonlyMap<Unit, Block>): Analysis {
  const violations = new Map<Effect, Violation>();
  const unsupported = new Map<Effect, Violation>();
  const changes = new Map<Unit, Changes>();
  for (const unit of machine.units) {
    if (unit.level === 'module') continue;
    const does: Changes = { state: new Set(), labels: false };
    changes.set(unit, does);
    for (const effect of machine.summaries.get(unit.root)?.effects.values() ?? []) {
      const verdict = judge(effect, machine);
      if (verdict.kind === 'state') does.state.add(verdict.binding);
      else if (verdict.kind === 'label') does.labels = true;
      else if (verdict.kind === 'violation' || verdict.kind === 'unsupported') {
        const list = verdict.kind === 'violation' ? violations : unsupported;
        // What a function does is told once, for the first rule that calls it.
        if (list.has(effect)) continue;
        list.set(effect, violationOf(blocks.get(unit)?.rule ?? null, unit, effect.place, verdict, machine));
      }
    }
    // An object that labels hold may be held by a per-parse variable as well.
    if (does.labels && machine.sharesState) does.state.add(null);
  }
  const refused = new Set([...violations.keys()].map(({ place }) => place.node));
  return {
    effects: effectsOf(machine, blocks, changes),
    violations: [...violations.values()],
    // Of one place, the refusal is enough.
    unsupported: [
      ...[...unsupported].filter(([{ place }]) => !refused.has(place.node)).map(([, violation]) => violation),
      ...uncalledChanges(machine, refused),
    ],
  };
}

function effectsOf(
  machine: Machine,
  blocks: ReadonlyMap<Unit, Block>,
  changes: ReadonlyMap<Unit, Changes>,
): Map<Block, Effects> {
  const changed = new Set([...blocks.keys()].flatMap((unit) => [...(changes.get(unit)?.state ?? [])]));
  const isChanged = (binding: Binding): boolean =>
    changed.has(binding) || (changed.has(null) && machine.routines.owners.get(binding)?.unit.level === 'parse');
  const effects = new Map<Block, Effects>();
  for (const [unit, block] of blocks) {
    const summary = machine.summaries.get(unit.root);
    const does = changes.get(unit);
    if (!summary || !does) continue;
    effects.set(block, {
      writesState: does.state.size > 0,
      readsState: [...summary.reads].some(isChanged),
      changesLabels: does.labels,
      mayThrow: summary.mayThrow,
      callsForPosition: summary.position.calls,
    });
  }
  return effects;
}
