/** Paginated reading of lists in a store. */
import { nextTurn } from '../../async/timers.js';

export interface Page {
  readonly after: string | undefined;
  readonly limit: number;
}

const LIMIT = 100;

/** Reads a list page by page, and yields to the event loop between two pages. */
export async function* pagesOf<T>(
  list: (page: Page) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): AsyncGenerator<readonly T[]> {
  for (let after: string | undefined; ; ) {
    const items = await list({ after, limit: LIMIT });
    yield items;
    if (items.length < LIMIT) return;
    after = keyOf(items.at(-1)!);
    await new Promise<void>(nextTurn);
  }
}
