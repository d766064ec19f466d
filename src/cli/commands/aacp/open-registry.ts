/** Opens the registry of `--registry`. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  defaultRegistryFile,
  memoryRegistry,
  type NoticeListener,
  type Registry,
  RegistryError,
  sqliteRegistry,
} from '../../../aacp/fallback/index.js';
import { isUnwritable, memoryCopy } from '../../../aacp/registry/sqlite.js';
import { visible } from '../../../text/visible.js';
import { isPostgres } from '../../io/databases.js';
import { libraryFault, storeFault, UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { labelled } from '../../io/output.js';
import type { Reporting } from '../../io/report.js';

interface RegistryChoice {
  readonly file: string | undefined;
  /** If true, a missing file is created. Otherwise, a missing default file is an empty registry, and any other an error. */
  readonly create: boolean;
  /** The fallback if the file cannot be written: read it only, or copy it to memory with a warning. @default an error */
  readonly otherwise?: 'read-only' | 'memory' | undefined;
  readonly ttlMs?: number | undefined;
}

/** Opens a registry. @throws UsageError if it cannot be opened */
export async function openRegistry(
  { json, output }: Pick<Reporting, 'json' | 'output'>,
  { file, create, otherwise, ttlMs }: RegistryChoice,
): Promise<Registry> {
  // The error of a registry that is set aside has the same text.
  const onNotice: NoticeListener = (notice) => {
    if (notice.kind === 'set-aside') return;
    const text = labelled('warning', notice.kind, visible(notice.message), output.paintNote);
    void output.note(json ? toJson({ notice }) : text);
  };
  if (file !== undefined && isPostgres(file)) {
    const { postgresRegistry } = await import('../../../aacp/registry/postgres.js');
    return await postgresRegistry(file, { ttlMs, onNotice }).catch((thrown: unknown) => {
      throw thrown instanceof TypeError ? new UsageError(thrown.message) : registryFault(thrown);
    });
  }
  try {
    if (!create && !existsSync(file ?? defaultRegistryFile())) {
      if (file !== undefined) throw unreadable({ code: 'ENOENT' }, file);
      return memoryRegistry();
    }
    return await sqliteRegistry(file, { ttlMs, onNotice, allowReadOnly: otherwise === 'read-only' });
  } catch (thrown) {
    // A folder is a mistake in the arguments, not a lack of permission.
    const isFolder = file !== undefined && existsSync(path.join(file, '/'));
    if (otherwise !== 'memory' || isFolder || !isUnwritable(thrown)) throw registryFault(thrown);
    const { registry, isCopy } = await memoryCopy(file, { ttlMs, onNotice }).catch((error: unknown) => {
      throw registryFault(error);
    });
    const used = isCopy ? ' Its entries are used.' : '';
    const message = `${thrown.message.replace(/\.?$/, '.')}${used} New entries are kept for this run only; use --registry memory to avoid this warning.`;
    await output.note(
      json
        ? toJson({ notice: { kind: 'registry-in-memory', message } })
        : labelled('warning', 'registry-in-memory', visible(message), output.paintNote),
    );
    return registry;
  }
}

/** Converts the error of a registry; returns any other value unchanged. */
export function registryFault(thrown: unknown): unknown {
  return thrown instanceof RegistryError ? libraryFault(thrown) : storeFault(thrown);
}

/** Formats US dollars, small amounts to a thousandth of a cent: most packets cost less than a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && amount < 1 ? 5 : 2)}`;
}
