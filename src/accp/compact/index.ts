/** Compact frames without a session, by the entries of a registry that both sides have. Public as `pegwire/accp/compact`. */
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { Frame } from '../ast.js';
import { accpError } from '../errors.js';
import { printFrame } from '../print.js';
import { COMMON_REGISTRY, type Registry } from '../registry/registry.js';
import { Compactor, SpellingCosts } from './compact.js';
import { expandFrame as expandByTables } from './expand.js';
import { numberIn } from './spelling.js';
import { spellAgent, staticEntries, unspellAgent } from './static.js';
import { CompactTables } from './tables.js';

export { AccpError } from '../errors.js';
export type { MessageInput } from '../message/message.js';
export {
  type CompactDefinition,
  createRegistry,
  type Registry,
  type RegistryJson,
  type ShapeDefinition,
} from '../registry/registry.js';
export { type LearnOptions, learnRegistry } from './learn.js';

/** Options of {@link compactFrame}. */
export interface CompactOptions {
  /** The registry, which the reader must have, too. @default the schemas of the profiles */
  readonly registry?: Registry | undefined;
  /** The counter of tokens, such as `await loadTokenCounter('o200k_base')`. @default an estimate */
  readonly counter?: TokenCounter | undefined;
}

/**
 * Prints a frame in compact form: with the numbers of `registry` in place of agents, operations, keys and strings, with lists of maps as
 * tables, and with short dates. It has at most as many tokens as the plain frame, unless strings such as `-` and `#1`, keys or references need
 * marks, and is a frame of the grammar, but only {@link expandFrame} with the same registry can read it.
 *
 * Codecs make smaller frames, since both sides of a session also learn from them: see the option `compact` of `createCodec`.
 *
 * @throws AccpError E1004 if the operation or the agent is a number, if marks would make the frame longer than 1048576 characters, or for
 * anything but a frame
 * @throws PrintError if the frame cannot be printed
 * @example
 * compactFrame(parseFrame('@planner>req:schedule{asgn:dev_team|task:impl_auth|pri:high|schema:TA}'))
 * // '@planner>req:schedule{7:[dev_team,impl_auth,high]}'
 */
export function compactFrame(
  frame: Frame,
  { registry = COMMON_REGISTRY, counter = ESTIMATING_COUNTER }: CompactOptions = {},
): string {
  if (frame?.kind !== 'frame') throw accpError('E1004', 'frame', 'is not a frame node');
  const { agent } = frame;
  const plain = printFrame({ ...frame, metadata: null });
  const isNumber = numberIn(agent) !== undefined && registry.compact?.agents !== undefined;
  if (isNumber) throw accpError('E1004', 'agent', 'must not be a number, since the registry numbers agents');
  const compacted = new Compactor(tablesOf(registry), new SpellingCosts(counter)).compact(frame, plain, undefined);
  if (numberIn(frame.operation) !== undefined)
    throw accpError('E1004', 'operation', 'must not be a number, which means a shape');
  if (compacted === null) throw accpError('E1004', 'frame', 'is too long in compact form');
  const empty = printFrame({ ...frame, payload: [] });
  const metadata = empty.slice(empty.indexOf('{}') + '{}'.length);
  return `@${spellAgent(agent, registry)}${compacted.text.slice(agent.length + 1)}${metadata}`;
}

/**
 * Returns the plain frame of a compact one, without spans.
 *
 * @throws AccpError E2001 if the registry lacks a number, E1001 if the frame is invalid or the plain one would exceed a limit, such as 1048576
 * characters, E1004 for anything but a frame
 * @throws PrintError if the frame cannot be printed
 * @example
 * expandFrame(parseFrame('@planner>req:schedule{7:[dev_team,impl_auth,high]}')).payload[1] // the task
 */
export function expandFrame(frame: Frame, registry: Registry = COMMON_REGISTRY): Frame {
  if (frame?.kind !== 'frame') throw accpError('E1004', 'frame', 'is not a frame node');
  // Throws if the tree is not that of a frame.
  printFrame(frame);
  const [plain] = expandByTables(frame, tablesOf(registry));
  return { ...plain, agent: unspellAgent(frame.agent, registry) };
}

const tables = new WeakMap<Registry, CompactTables>();

function tablesOf(registry: Registry): CompactTables {
  let known = tables.get(registry);
  if (known === undefined) {
    known = new CompactTables(staticEntries(registry), false);
    tables.set(registry, known);
  }
  return known;
}
