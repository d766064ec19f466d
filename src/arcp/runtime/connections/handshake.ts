/** Opening and resumption of sessions (spec 003, "Capability Negotiation", "Sessions"). */
import type * as z from 'zod';
import { toJSONSchema } from 'zod/mini';
import { MAX_DEPTH, type MessageLimits } from '../../protocol/codec.js';
import { type Envelope, isSupported, SUPPORTED_VERSIONS } from '../../protocol/envelope.js';
import { ArcpError, asArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import { TRUST_LEVELS, type TrustLevel } from '../../protocol/payloads/parts.js';
import type { StoredRecord } from '../../store/store.js';
import type { Core } from '../core.js';
import type { Engine } from '../engine/engine.js';
import { MIN_MESSAGE_BYTES, traceBelow } from '../events/message.js';
import { mailTo } from '../mail/mail.js';
import type { Identity, Peer } from '../sessions/auth.js';
import {
  CARRIERS,
  can,
  carrierRecord,
  digestOf,
  negotiate,
  newToken,
  SESSIONS,
  type Session,
  type StoredSession,
  sessionOf,
  sessionRecord,
} from '../sessions/session.js';
import type { Registration } from '../types.js';

export interface OpenResult {
  readonly session: Session;
  readonly engine: Engine;
  readonly isResumed: boolean;
  readonly body: string;
}

type OpenMessage = Envelope<'session.open'>;

/** Opens or resumes a session. A repeated `session.open` resumes its session, since the answer may have been lost. */
export async function openSession(core: Core, message: OpenMessage, peer: Peer, limit: number): Promise<OpenResult> {
  const { versions } = message.payload;
  if (versions !== undefined && !versions.some(isSupported))
    throw new ArcpError('UNSUPPORTED_VERSION', 'None of the versions is supported; see details.supported', {
      details: { supported: SUPPORTED_VERSIONS },
    });
  const identity = await identify(core, message, peer);
  const existing = await findExisting(core, message, identity);
  return existing === undefined
    ? openNew(core, message, identity, limit)
    : resumeSession(core, message, identity, existing, limit);
}

async function identify({ settings }: Core, { payload }: OpenMessage, peer: Peer): Promise<Identity> {
  const { auth } = payload;
  if (peer.verifyToken !== undefined && !(auth?.token !== undefined && peer.verifyToken(auth.token)))
    throw new ArcpError(
      'UNAUTHENTICATED',
      'A bearer token is required; send it in the Authorization header or in auth',
      {
        details: { schemes: ['bearer'] },
      },
    );
  try {
    return await settings.authenticate(auth, peer);
  } catch (thrown) {
    const { code, message, details } = asArcpError(thrown);
    // Internal errors must not reach the client.
    if (!(thrown instanceof ArcpError))
      throw new ArcpError('UNAUTHENTICATED', 'Authentication failed', { cause: thrown });
    throw new ArcpError(code, message, { details, cause: thrown });
  }
}

/** The nesting that the envelope of an error needs. */
const MIN_DEPTH = 24;

const openingsOf = (principal: string): string => `opening:${principal}`;

async function findExisting(core: Core, message: OpenMessage, identity: Identity): Promise<StoredRecord | undefined> {
  const { store } = core.durable;
  if (message.session_id !== undefined) {
    const found = await store.readRecord(SESSIONS, message.session_id);
    if (found === undefined || isExpired(core, found.key, sessionOf(found)))
      throw new ArcpError('NOT_FOUND', 'The session does not exist or has expired', {
        details: { session_id: message.session_id },
      });
    assertMayResume(sessionOf(found), message, identity);
    return found;
  }
  const opened = await store.readRecord(openingsOf(identity.principal), message.id);
  return opened === undefined ? undefined : store.readRecord(SESSIONS, opened.value);
}

function isExpired({ boot, settings, durable, connections }: Core, id: string, session: StoredSession): boolean {
  if (session.boot !== undefined && session.boot !== boot) return true;
  if (connections.has(id)) return false;
  return durable.now() - session.seenAt > settings.resumeWindowMs;
}

/** Asserts that a client may resume a session. A session of another principal gives the same error as a wrong token. */
function assertMayResume(session: StoredSession, { payload }: OpenMessage, { principal }: Identity): void {
  const token = payload.resume_token;
  const isOwn = session.principal === principal;
  const hasToken = token !== undefined && [session.tokenDigest, session.formerDigest].includes(digestOf(token));
  if (!isOwn || !(hasToken || (token === undefined && payload.auth !== undefined)))
    throw new ArcpError(
      'PERMISSION_DENIED',
      'The session cannot be resumed with these credentials; send its resume_token',
    );
  if (session.closedAt !== undefined)
    throw new ArcpError('FAILED_PRECONDITION', 'The session was closed; open another one');
}

async function openNew(core: Core, message: OpenMessage, identity: Identity, limit: number): Promise<OpenResult> {
  const { payload } = message;
  const { settings, boot } = core;
  const capabilities = negotiate(settings.capabilities, payload.capabilities);
  const mode = payload.mode ?? (can(capabilities, 'durable_jobs') ? 'durable' : 'stateful');
  const engine = mode === 'stateless' ? core.transient : core.durable;
  const now = engine.now();
  const id = newId('sess');
  const kept = {
    principal: identity.principal,
    mode,
    trust: lower(identity.trust, payload.trust_level),
    capabilities,
    limits: limitsOf(core, payload),
    wantsValue: payload.versions === undefined,
    openedBy: message.id,
    openedAt: now,
    seenAt: now,
    ...(mode === 'durable' ? {} : { boot }),
  };
  const accepted = accept(core, engine, message, id, kept, limit);
  const session: StoredSession = { ...kept, tokenDigest: accepted.tokenDigest, acceptedId: accepted.id };
  const epoch = mode === 'stateless' ? 0 : 1;
  if (mode !== 'stateless') {
    const opening = { scope: openingsOf(identity.principal), key: message.id, value: id, expect: 0 };
    const carrier = carrierRecord(id, engine.mailbox.worker, epoch);
    const result = await engine.log.commit({ records: [sessionRecord(id, session, 0), opening, carrier] });
    // The same message arrived twice at once.
    if (result.outcome !== 'done') {
      const existing = await findExisting(core, message, identity);
      if (existing === undefined)
        throw new ArcpError('ABORTED', 'The same session.open is already being processed; try again');
      return resumeSession(core, message, identity, existing, limit);
    }
  }
  return { session: { ...session, id, identity, epoch }, engine, isResumed: false, body: accepted.body };
}

async function resumeSession(
  core: Core,
  message: OpenMessage,
  identity: Identity,
  record: StoredRecord,
  limit: number,
): Promise<OpenResult> {
  const existing = sessionOf(record);
  const { settings, durable: engine } = core;
  const capabilities = negotiate(settings.capabilities, message.payload.capabilities);
  const kept = {
    ...existing,
    limits: limitsOf(core, message.payload),
    capabilities,
    wantsValue: message.payload.versions === undefined,
    trust: lower(identity.trust, message.payload.trust_level),
    seenAt: core.durable.now(),
  };
  const accepted = accept(core, engine, message, record.key, kept, limit);
  const { resume_token: used } = message.payload;
  const formerDigest = used === undefined ? existing.tokenDigest : digestOf(used);
  const session: StoredSession = { ...kept, tokenDigest: accepted.tokenDigest, formerDigest };
  const { worker } = engine.mailbox;
  const carrier = await engine.store.readRecord(CARRIERS, record.key);
  const epoch = (carrier?.version ?? 0) + 1;
  const records = [sessionRecord(record.key, session, record.version), carrierRecord(record.key, worker, epoch)];
  if (carrier !== undefined && carrier.value !== worker)
    records.push(mailTo(carrier.value, { kind: 'replaced', sessionId: record.key, epoch }));
  const result = await engine.log.commit({ records });
  if (result.outcome !== 'done') {
    const now = await engine.store.readRecord(SESSIONS, record.key);
    if (now === undefined) throw new ArcpError('NOT_FOUND', 'The session no longer exists');
    const { closedAt, tokenDigest } = sessionOf(now);
    if (closedAt !== undefined) throw new ArcpError('FAILED_PRECONDITION', 'The session was closed; open another one');
    // Another token means that the session was resumed elsewhere.
    if (tokenDigest === existing.tokenDigest) return resumeSession(core, message, identity, now, limit);
    throw new ArcpError('ABORTED', 'The session was resumed on another connection');
  }
  await core.peers.forgetLimits(record.key);
  return { session: { ...session, id: record.key, identity, epoch }, engine, isResumed: true, body: accepted.body };
}

/** Returns the limits of the client, which are at least those of an error. */
function limitsOf({ settings }: Core, { limits = {} }: OpenMessage['payload']): MessageLimits {
  const { max_message_bytes = settings.maxMessageBytes, max_depth = MAX_DEPTH } = limits;
  return {
    maxMessageBytes: Math.max(MIN_MESSAGE_BYTES, Math.min(settings.maxMessageBytes, max_message_bytes)),
    maxDepth: Math.max(MIN_DEPTH, Math.min(MAX_DEPTH, max_depth)),
  };
}

type Unaccepted = Omit<StoredSession, 'tokenDigest' | 'acceptedId'>;

function accept(core: Core, { log }: Engine, message: OpenMessage, id: string, session: Unaccepted, limit: number) {
  const { settings } = core;
  const token = newToken();
  const isVisible = ({ options }: Registration): boolean => session.trust !== 'untrusted' || options.isPublic === true;
  const registrations = [...core.registrations()].filter(isVisible);
  const { envelope, body } = log.compose({
    type: 'session.accepted',
    sessionId: id,
    correlationId: message.id,
    trace: traceBelow(message),
    payload: {
      session_id: id,
      capabilities: { ...session.capabilities },
      mode: session.mode,
      trust_level: session.trust,
      runtime: { kind: 'pegwire', version: settings.version },
      ...(session.mode === 'stateless'
        ? {}
        : { resume_token: token, resume_window_seconds: secondsOf(settings.resumeWindowMs) }),
      tools: registrations.filter(({ kind }) => kind === 'tool').map(toolInfo),
      workflows: registrations.filter(({ kind }) => kind === 'workflow').map(toolInfo),
      agents: registrations
        .filter(({ kind }) => kind === 'agent')
        .map(({ name, options: { description } }) => ({ name, description })),
      heartbeat_interval_seconds: secondsOf(settings.heartbeatMs),
      limits: { max_message_bytes: limit, max_depth: MAX_DEPTH, max_jobs: settings.maxJobs },
    },
  });
  return { id: envelope.id, body, tokenDigest: digestOf(token) };
}

function secondsOf(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms / 1000 : undefined;
}

function toolInfo({ name, options }: Registration) {
  const { description, input, output, schemas, permissions, durable, annotations } = options;
  return {
    name,
    description,
    input_schema: schemas?.input ?? (input && jsonSchema(input, 'input')),
    output_schema: schemas?.output ?? (output && jsonSchema(output, 'output')),
    permissions: permissions && [...permissions],
    durable,
    annotations,
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  return { ...toJSONSchema(schema, { io, unrepresentable: 'any' }) };
}

/** Returns the lower of two trust levels. */
function lower(granted: TrustLevel, requested: TrustLevel | undefined): TrustLevel {
  if (requested === undefined) return granted;
  return TRUST_LEVELS.indexOf(requested) < TRUST_LEVELS.indexOf(granted) ? requested : granted;
}
