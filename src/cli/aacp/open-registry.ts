/** The registry that `--registry` names, and what its failures are to the command line. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  defaultRegistryFile,
  memoryRegistry,
  type Registry,
  RegistryError,
  sqliteRegistry,
} from '../../aacp/fallback/index.js';
import { isUnwritable } from '../../aacp/fallback/options.js';
import { visible } from '../../text/visible.js';
import { unreadable } from '../file-error.js';
import { toJson } from '../json.js';
import { type Invocation, UsageError } from '../usage.js';

export interface RegistryChoice {
  /** A path; without it, the file in the user's data folder. */
  readonly file: string | undefined;
  /** Whether a file is made where there is none. Otherwise the default one counts as empty, and any other is an error. */
  readonly create: boolean;
  /** Whether a registry in memory takes the place of one that cannot be written, with a warning. @default false */
  readonly orMemory?: boolean | undefined;
  /** Milliseconds; see the registry. */
  readonly ttl?: number | undefined;
}

/** @throws UsageError when it cannot be opened */
export async function openRegistry(
  invocation: Invocation,
  { file, create, orMemory = false, ttl }: RegistryChoice,
): Promise<Registry> {
  const { json, output } = invocation;
  try {
    if (!create && !existsSync(file ?? defaultRegistryFile())) {
      if (file !== undefined) throw unreadable({ code: 'ENOENT' }, file);
      return memoryRegistry();
    }
    return await sqliteRegistry(file, {
      ttl,
      // The error says the same, where there is one.
      onNotice: (notice) => {
        if (notice.kind !== 'set-aside') void output.note(json ? toJson({ notice }) : visible(notice.message));
      },
    });
  } catch (thrown) {
    // A folder's name is a slip, and no place that cannot be written.
    const isFolder = file !== undefined && existsSync(path.join(file, '/'));
    if (!orMemory || isFolder || !isUnwritable(thrown)) throw registryFault(thrown);
    const message = `${thrown.message} What is encoded is kept for this run only; --registry memory does that without this warning.`;
    await output.note(
      json
        ? toJson({ notice: { kind: 'registry-in-memory', message } })
        : `warning[registry-in-memory]: ${visible(message)}`,
    );
    return memoryRegistry();
  }
}

/** What a registry throws is no defect of ours. */
export function registryFault(thrown: unknown): unknown {
  return thrown instanceof RegistryError ? new UsageError(thrown.message.replace(/\.$/, ''), 'unreadable') : thrown;
}
