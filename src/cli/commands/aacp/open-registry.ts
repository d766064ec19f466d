/** The registry that `--registry` names, and what its failures are to the command line. */
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
import { UsageError, unreadable } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import type { Reporting } from '../../io/report.js';

export interface RegistryChoice {
  /** A path; without it, the file in the user's data folder. */
  readonly file: string | undefined;
  /** Whether a file is made where there is none. Otherwise the default one counts as empty, and any other is an error. */
  readonly create: boolean;
  /**
   * What takes the place of a file that cannot be written: the same file, read only; or a registry in memory with its entries, and a
   * warning.
   * @default an error
   */
  readonly otherwise?: 'read-only' | 'memory' | undefined;
  /** Milliseconds; see the registry. */
  readonly ttl?: number | undefined;
}

/** @throws UsageError when it cannot be opened */
export async function openRegistry(
  { json, output }: Pick<Reporting, 'json' | 'output'>,
  { file, create, otherwise, ttl }: RegistryChoice,
): Promise<Registry> {
  // The error says the same, where there is one.
  const onNotice: NoticeListener = (notice) => {
    if (notice.kind !== 'set-aside') void output.note(json ? toJson({ notice }) : visible(notice.message));
  };
  try {
    if (!create && !existsSync(file ?? defaultRegistryFile())) {
      if (file !== undefined) throw unreadable({ code: 'ENOENT' }, file);
      return memoryRegistry();
    }
    return await sqliteRegistry(file, { ttl, onNotice, orReadOnly: otherwise === 'read-only' });
  } catch (thrown) {
    // A folder's name is a slip, and no place that cannot be written.
    const isFolder = file !== undefined && existsSync(path.join(file, '/'));
    if (otherwise !== 'memory' || isFolder || !isUnwritable(thrown)) throw registryFault(thrown);
    const { registry, isCopy } = await memoryCopy(file, { ttl, onNotice }).catch((error: unknown) => {
      throw registryFault(error);
    });
    const used = isCopy ? ' What it holds is used.' : '';
    const message = `${thrown.message}${used} What is encoded is kept for this run only; --registry memory does that without this warning.`;
    await output.note(
      json
        ? toJson({ notice: { kind: 'registry-in-memory', message } })
        : `warning[registry-in-memory]: ${visible(message)}`,
    );
    return registry;
  }
}

/** What a registry throws is no defect of ours. */
export function registryFault(thrown: unknown): unknown {
  return thrown instanceof RegistryError ? new UsageError(thrown.message.replace(/\.$/, ''), 'unreadable') : thrown;
}

/** US dollars to a thousandth of a cent: a packet mostly costs less than a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && amount < 1 ? 5 : 2)}`;
}
