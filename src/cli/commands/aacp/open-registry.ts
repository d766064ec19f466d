/** Opens the registry that `--registry` names. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  defaultRegistryFile,
  memoryRegistry,
  type NoticeListener,
  type Registry,
  RegistryError,
  StoreError,
  sqliteRegistry,
} from '../../../aacp/fallback/index.js';
import { isUnwritable, memoryCopy } from '../../../aacp/registry/sqlite.js';
import { visible } from '../../../text/visible.js';
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Reporting } from '../../io/report.js';

interface RegistryChoice {
  readonly file: string | undefined;
  /** Whether to create a missing file. Otherwise a missing default file counts as empty, and any other is an error. */
  readonly create: boolean;
  /** The fallback for a file that cannot be written: the file, read only; or a copy in memory, with a warning. @default an error */
  readonly otherwise?: 'read-only' | 'memory' | undefined;
  readonly ttlMs?: number | undefined;
}

export async function openRegistry(
  { json, output }: Pick<Reporting, 'json' | 'output'>,
  { file, create, otherwise, ttlMs }: RegistryChoice,
): Promise<Registry> {
  // The error of a registry that is set aside says the same.
  const onNotice: NoticeListener = (notice) => {
    if (notice.kind !== 'set-aside') void output.note(json ? toJson({ notice }) : visible(notice.message));
  };
  try {
    if (!create && !existsSync(file ?? defaultRegistryFile())) {
      if (file !== undefined) throw unreadable({ code: 'ENOENT' }, file);
      return memoryRegistry();
    }
    return await sqliteRegistry(file, { ttlMs, onNotice, orReadOnly: otherwise === 'read-only' });
  } catch (thrown) {
    // The name of a folder is a mistake, not a place without permission to write.
    const isFolder = file !== undefined && existsSync(path.join(file, '/'));
    if (otherwise !== 'memory' || isFolder || !isUnwritable(thrown)) throw registryFault(thrown);
    const { registry, isCopy } = await memoryCopy(file, { ttlMs, onNotice }).catch((error: unknown) => {
      throw registryFault(error);
    });
    const used = isCopy ? ' What it holds is used.' : '';
    const message = `${thrown.message.replace(/\.?$/, '.')}${used} What is encoded is kept for this run only; --registry memory does that without this warning.`;
    await output.note(
      json
        ? toJson({ notice: { kind: 'registry-in-memory', message } })
        : `warning[registry-in-memory]: ${visible(message)}`,
    );
    return registry;
  }
}

/** Turns an error of the registry into an error of usage. */
export function registryFault(thrown: unknown): unknown {
  return thrown instanceof RegistryError || thrown instanceof StoreError
    ? new UsageError(thrown.message.replace(/\.$/, ''), 'unreadable')
    : thrown;
}

/** Rounds to a thousandth of a cent: most packets cost less than a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && amount < 1 ? 5 : 2)}`;
}
