/** The AACP half of `pegwire serve`. */
import { createPacketHandler } from '../../aacp/bindings/http/index.js';
import {
  AuditError,
  type AuditNotice,
  createDispatcher,
  type FileAudit,
  fileAudit,
  type ReplayGuard,
  replayGuard,
} from '../../aacp/dispatch/index.js';
import type { Packet } from '../../aacp/index.js';
import { VERSION } from '../../aacp/index.js';
import { libraryFault } from '../io/errors.js';

/** The handler of packets, and its log. */
export interface PacketRoute {
  readonly handle: (request: Request) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the log and creates a handler that acknowledges every valid packet.
 *
 * @param file the log; `undefined` for none
 * @throws UsageError if the log cannot be opened
 */
export async function openPacketRoute(
  file: string | undefined,
  onError: (thrown: unknown) => void,
): Promise<PacketRoute> {
  const audit = file === undefined ? null : await openAudit(file, onError);
  const dispatcher = createDispatcher<Packet>({
    audit,
    replay: guardFromNow(),
    deliver: acknowledge,
  });
  const handle = createPacketHandler(dispatcher, { onError });
  return { handle, close: async () => audit?.close() };
}

async function openAudit(file: string, onError: (thrown: unknown) => void): Promise<FileAudit> {
  try {
    return await fileAudit(file, { onNotice: (notice) => onError(messageOf(notice)) });
  } catch (thrown) {
    throw thrown instanceof AuditError ? libraryFault(thrown) : thrown;
  }
}

function messageOf(notice: AuditNotice): string {
  if (notice.kind === 'wide-mode') return `Other users can read ${notice.file}: ${String(notice.error)}`;
  return `The last record of the log was incomplete, and moved to ${notice.movedTo}`;
}

/** Creates a replay guard that also rejects what was sent before the start, since it does not know those nonces. */
function guardFromNow(): ReplayGuard {
  const guard = replayGuard();
  const startedAt = Date.now();
  return {
    admit: (envelope) =>
      envelope !== undefined && envelope.sentAt < startedAt ? { ok: false, reason: 'too-old' } : guard.admit(envelope),
    size: guard.size,
  };
}

function acknowledge({ task, domain, fields }: Packet): Packet {
  const value = (key: string): string | undefined => fields.find((field) => field.key === key)?.value;
  const answer = { return: value('return')!, p: value('p') ?? '2', aacp: VERSION, status: `received_${task}` };
  return {
    kind: 'packet',
    task: 'ACK',
    domain,
    fields: Object.entries(answer).map(([key, text]) => ({ key, value: text })),
  };
}
