/** What is demanded of a message before it is encoded (draft-benzing-accp-00, sections 3.7, 5.4, 6.4 and 10). */
import type { Diagnostic } from '../../text/diagnostic.js';
import { AccpError } from '../errors.js';
import { checkProfiles, PROFILES } from '../profiles/profiles.js';
import type { Registry } from '../registry/registry.js';
import { cancelled } from '../session/chains.js';
import type { SessionParts } from '../session/session.js';
import { isTaken, type Outbound, readStateSync } from './effects.js';
import { ANNOUNCED, type Engine } from './engine.js';

/**
 * A schema of our own is of use only to whoever knows it (section 6.4): the other side would read the message by what we have
 * told before.
 *
 * @throws AccpError E1003 when the registry has changed since it was announced
 */
export function checkAnnounced(
  { schema }: Outbound,
  registry: Registry,
  { facts }: SessionParts,
  warnings: Diagnostic[],
): void {
  if (schema === undefined || PROFILE_CODES.has(schema)) return;
  const announced = facts.get(ANNOUNCED);
  if (announced === registry.hash) return;
  if (announced !== undefined) {
    throw new AccpError({
      code: 'E1003',
      path: 'schema',
      message: 'the registry has changed since it was announced',
      help: 'send what codec.announce(session) gives first',
    });
  }
  warnings.push({
    code: 'not-announced',
    severity: 'warning',
    message: `The schema ${schema} was not announced; the other side has to know it from elsewhere.`,
    span: null,
    section: '6.4',
    help: 'begin with codec.announce(session)',
  });
}

const PROFILE_CODES: ReadonlySet<string> = new Set(PROFILES.map(({ code }) => code));

/** What the profiles and the state of the session demand of a message (sections 3.7 and 10). */
export function checkRules(message: Outbound, parts: SessionParts, engine: Engine, warnings: Diagnostic[]): void {
  const { envelope, intent, agent } = message;
  const { correlation_id: cid, sequence, msg_id: mid } = envelope;
  const next = parts.delivery.nextToSend(agent);
  if (sequence !== undefined && sequence !== next) {
    throw new AccpError({
      code: 'E3003',
      path: 'envelope.sequence',
      message: `the next number is ${next}`,
      details: { expected: next },
    });
  }
  if (mid !== undefined && parts.delivery.hasSeen(mid)) {
    throw new AccpError({ code: 'E3002', path: 'envelope.msg_id', message: `${mid} is taken` });
  }
  if (intent === 'cancel' && cid === undefined) {
    throw new AccpError({
      code: 'E1004',
      path: 'envelope.correlation_id',
      message: 'cancel names the chain that is to stop',
    });
  }
  if (cid !== undefined && parts.chains.isCancelled(cid) && !ENDS_A_CHAIN.has(intent)) throw cancelled(cid);
  if (intent === 'sync' && message.operation === 'state') checkStateSync(message, parts);
  checkProfiles(
    message,
    {
      direction: 'send',
      dialect: 'strict',
      request: cid === undefined ? undefined : parts.chains.get(cid),
      warn: (code, text, path) => {
        warnings.push({
          code,
          severity: 'warning',
          message: path === undefined ? text : `${path}: ${text}`,
          span: null,
          section: '10',
        });
      },
    },
    engine.settings.profiles,
  );
  if (cid !== undefined) parts.sentStreams.check(cid, message);
}

function checkStateSync({ payload }: Outbound, parts: SessionParts): void {
  const sync = readStateSync(payload, parts);
  if (sync.kind === 'delta' || isTaken(sync, parts)) return;
  const { version } = parts.state;
  throw new AccpError({
    code: 'E2001',
    path: 'payload.version',
    message: `the state here is at version ${version} already`,
    details: { version },
  });
}

/** Told also of chains that were cancelled: they say that it has ended. */
export const ENDS_A_CHAIN: ReadonlySet<string> = new Set(['cancel', 'ack', 'fail']);
