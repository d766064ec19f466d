/** What reading the values of one message carries along. */
import { AccpError } from '../errors/accp-error.js';
import type { Json } from './json.js';
import type { Loss } from './message.js';
import { pathText, type Step } from './path.js';

export interface ReadingOptions {
  /** Whether the writer transliterates: both ends have to know. */
  readonly transliterated: boolean;
  /**
   * Gives the value that a reference stands for, or throws.
   *
   * @param path without its `$`: `warm.ckpt_1.status`
   * @param at the place of the reference: `payload.src`
   */
  readonly resolve: (path: string, at: string) => Json;
}

export interface Reading extends ReadingOptions {
  /** What could not be read exactly so far. */
  readonly losses: Loss[];
  /** The steps down to the array or map that is being read; what stands beyond its level is left from others. */
  readonly path: Step[];
}

export function createReading({ transliterated, resolve }: ReadingOptions): Reading {
  return { transliterated, resolve, losses: [], path: [] };
}

/** The place of a value: `step` in the array or map that `level` steps lead to. */
export function placeOf({ path }: Reading, level: number, step: Step): string {
  path[level] = step;
  path.length = level + 1;
  return pathText(path);
}

/** An E1004 about a value. */
export function unreadable(path: string, message: string, help?: string): AccpError {
  return new AccpError({ code: 'E1004', message, path, help });
}
