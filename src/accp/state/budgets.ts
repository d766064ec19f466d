/** How much context state may take (draft-benzing-accp-00, sections 5.1 to 5.3), and how much it takes. */
import type { TokenCounter } from '../../tokens/counter.js';

/** All in tokens. */
export interface StateBudgets {
  /** Most that hot state may hold. @default 500 */
  readonly hot: number;
  /** A checkpoint is due when hot state holds more. @default 400 */
  readonly hotTrigger: number;
  /** Most of one entry of warm state. @default 200 */
  readonly checkpoint: number;
  /** Most of a summary. @default 100 */
  readonly summary: number;
}

/** What `getBudget` tells (section 7.1). All in tokens. */
export interface TokenBudget {
  readonly hot: { readonly used: number; readonly max: number; readonly trigger: number };
  readonly warm: {
    /** Of all entries that are kept in memory. */
    readonly used: number;
    readonly perCheckpoint: number;
    readonly checkpoints: readonly { readonly id: string; readonly tokens: number }[];
  };
  /** Cold state is never injected into a context. */
  readonly cold: { readonly used: 0 };
  /** `false` for estimates. */
  readonly exact: TokenCounter['exact'];
  readonly encoding: TokenCounter['encoding'];
}

const DEFAULTS: StateBudgets = { hot: 500, hotTrigger: 400, checkpoint: 200, summary: 100 };

/** @throws TypeError on a budget that is no positive integer, or a trigger that hot state can never reach */
export function resolveBudgets(given: { readonly [K in keyof StateBudgets]?: number | undefined } = {}): StateBudgets {
  const budgets = {
    hot: given.hot ?? DEFAULTS.hot,
    hotTrigger: given.hotTrigger ?? Math.min(DEFAULTS.hotTrigger, given.hot ?? DEFAULTS.hot),
    checkpoint: given.checkpoint ?? DEFAULTS.checkpoint,
    summary: given.summary ?? DEFAULTS.summary,
  };
  for (const [name, tokens] of Object.entries(budgets)) {
    if (!Number.isSafeInteger(tokens) || tokens < 1) {
      throw new TypeError(`budgets.${name} has to be a positive integer, not ${tokens}`);
    }
  }
  if (budgets.hotTrigger > budgets.hot) {
    throw new TypeError(`budgets.hotTrigger (${budgets.hotTrigger}) is above budgets.hot (${budgets.hot})`);
  }
  return budgets;
}
