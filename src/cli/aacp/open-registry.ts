/** The registry that `--registry` names, and what its failures are to the command line. */
import { existsSync } from 'node:fs';
import {
  defaultRegistryFile,
  memoryRegistry,
  type Registry,
  RegistryError,
  sqliteRegistry,
} from '../../aacp/fallback/index.js';
import { visible } from '../../text/visible.js';
import { unreadable } from '../input.js';
import { toJson } from '../json.js';
import { type Invocation, UsageError } from '../usage.js';

export interface RegistryChoice {
  /** A path; without it, the file in the user's data folder. */
  readonly file: string | undefined;
  /** Whether a file is made where there is none. Otherwise the default one counts as empty, and any other is an error. */
  readonly create: boolean;
  /** Milliseconds; see the registry. */
  readonly ttl?: number | undefined;
}

/** @throws UsageError when it cannot be opened */
export async function openRegistry(invocation: Invocation, { file, create, ttl }: RegistryChoice): Promise<Registry> {
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
    throw registryFault(thrown);
  }
}

/** What a registry throws is no defect of ours. */
export function registryFault(thrown: unknown): unknown {
  return thrown instanceof RegistryError ? new UsageError(thrown.message.replace(/\.$/, ''), 'unreadable') : thrown;
}
