/** Tabs of the page. */
import type { TaskClient } from './client.js';

/** The parts of the page that tabs share. */
export interface Context {
  readonly client: TaskClient;
  /** Calls a function whenever an exact tokenizer has been loaded. */
  readonly onTokens: (listener: () => void) => void;
  /** Loads a tokenizer. @returns false if its table is missing */
  readonly loadTokens: (encoding: string) => Promise<boolean>;
}

/** The content of a tab. */
export interface Tab {
  readonly element: HTMLElement;
  /** Returns what a link has to hold. */
  readonly save: () => Readonly<Record<string, unknown>>;
  /** Shows a saved state. Members of other types than expected are ignored. */
  readonly restore: (state: Readonly<Record<string, unknown>>) => void;
}

export type CreateTab = (context: Context) => Tab;

/** Returns a member of a saved state if it is a text. */
export function textOf(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

/** The documentation that the page is a part of; null if `pegwire playground` serves it. */
export const DOCS: string | null = /\/playground\/(index\.html)?$/.test(location.pathname) ? '../' : null;

/** Returns the page of the documentation for an error code. */
export function errorPage(errorClass: string, code: string): string | null {
  return DOCS === null ? null : `${DOCS}errors/${errorClass}/${code}/`;
}
