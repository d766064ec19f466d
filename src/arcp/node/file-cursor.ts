// biome-ignore-all lint/correctness/noNodejsModules: files are of Node
/** Where a client stands, kept in a file. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Cursor, CursorStore } from '../client/contract.js';

/**
 * Keeps a cursor in a file, its owner's only, since it holds what takes the session up again. It is replaced as a whole: whoever reads
 * it finds the one or the other.
 */
export function fileCursor(path: string): CursorStore {
  return {
    load: async () => {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      return cursorOf(text, path);
    },
    save: async (cursor) => {
      const draft = `${path}.${randomUUID()}`;
      await writeFile(draft, `${JSON.stringify(cursor)}\n`, { mode: 0o600 });
      await rename(draft, path);
    },
  };
}

function cursorOf(text: string, path: string): Cursor {
  let found: Partial<Cursor> | null = null;
  try {
    found = JSON.parse(text) as Partial<Cursor> | null;
  } catch {
    // Said below.
  }
  if (typeof found?.sessionId !== 'string') throw new Error(`${path} holds no cursor`);
  const { sessionId, resumeToken, lastMessageId } = found;
  return { sessionId, resumeToken, lastMessageId };
}
