/** How sessions are opened, and taken up again (spec 003, "Capability Negotiation", "Sessions"). */
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
import type { Identity, Peer } from '../sessions/auth.js';
import {
  can,
  digestOf,
  type KeptSession,
  negotiate,
  newToken,
  SESSIONS,
  type Session,
  sessionOf,
  sessionRecord,
} from '../sessions/session.js';
import type { Registration } from '../types.js';

export interface Opened {
  readonly session: Session;
  readonly engine: Engine;
  readonly isResumed: boolean;
  readonly body: string;
}

type Opening = Envelope<'session.open'>;

/** Opens a session, or resumes one. A repeated opening resumes its session, since the answer may have been lost. */
export async function openSession(core: Core, message: Opening, peer: Peer, limit: number): Promise<Opened> {
  const { versions } = message.payload;
  if (versions !== undefined && !versions.some(isSupported))
    throw new ArcpError('UNSUPPORTED_VERSION', 'None of these versions is spoken here', {
      details: { supported: SUPPORTED_VERSIONS },
    });
  const identity = await identify(core, message, peer);
  const former = await findFormer(core, message, identity);
  return former === undefined
    ? openNew(core, message, identity, limit)
    : takeUp(core, message, identity, former, limit);
}

async function identify({ settings }: Core, { payload }: Opening, peer: Peer): Promise<Identity> {
  const { auth } = payload;
  if (peer.isToken !== undefined && !(auth?.token !== undefined && peer.isToken(auth.token)))
    throw new ArcpError('UNAUTHENTICATED', 'The connection requires a bearer token, in its headers or in auth', {
      details: { schemes: ['bearer'] },
    });
  try {
    return await settings.authenticate(auth, peer);
  } catch (thrown) {
    const { code, message, details } = asArcpError(thrown);
    // Internal errors must not reach the client.
    if (!(thrown instanceof ArcpError))
      throw new ArcpError('UNAUTHENTICATED', 'Nobody knows who this is', { cause: thrown });
    throw new ArcpError(code, message, { details, cause: thrown });
  }
}

/** Nesting that the envelope of an error needs. */
const MIN_DEPTH = 24;

const openingsOf = (principal: string): string => `opening:${principal}`;

async function findFormer(core: Core, message: Opening, identity: Identity): Promise<StoredRecord | undefined> {
  const { store } = core.durable;
  if (message.session_id !== undefined) {
    const found = await store.readRecord(SESSIONS, message.session_id);
    if (found === undefined || hasPassed(core, found.key, sessionOf(found)))
      throw new ArcpError('NOT_FOUND', 'There is no such session', { details: { session_id: message.session_id } });
    assertMayTakeUp(sessionOf(found), message, identity);
    return found;
  }
  const opened = await store.readRecord(openingsOf(identity.principal), message.id);
  return opened === undefined ? undefined : store.readRecord(SESSIONS, opened.value);
}

function hasPassed({ boot, settings, durable, connections }: Core, id: string, session: KeptSession): boolean {
  if (session.boot !== undefined && session.boot !== boot) return true;
  if (connections.has(id)) return false;
  return durable.now() - session.seenAt > settings.resumeWindowMs;
}

/** The same error for the session of another principal and for one that needs a token. */
function assertMayTakeUp(session: KeptSession, { payload }: Opening, { principal }: Identity): void {
  const token = payload.resume_token;
  const isOwn = session.principal === principal;
  const hasToken = token !== undefined && [session.tokenDigest, session.formerDigest].includes(digestOf(token));
  if (!isOwn || !(hasToken || (token === undefined && payload.auth !== undefined)))
    throw new ArcpError('PERMISSION_DENIED', 'The session is not to be taken up');
  if (session.closedAt !== undefined) throw new ArcpError('FAILED_PRECONDITION', 'The session was closed');
}

async function openNew(core: Core, message: Opening, identity: Identity, limit: number): Promise<Opened> {
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
    acceptedAfter: await engine.store.lastSequence(),
    openedBy: message.id,
    openedAt: now,
    seenAt: now,
    ...(mode === 'durable' ? {} : { boot }),
  };
  const accepted = accept(core, engine, message, id, kept, limit);
  const session: KeptSession = { ...kept, tokenDigest: accepted.tokenDigest, acceptedId: accepted.id };
  if (mode !== 'stateless') {
    const opening = { scope: openingsOf(identity.principal), key: message.id, value: id, expect: 0 };
    const result = await engine.log.commit({ records: [sessionRecord(id, session, 0), opening] });
    // The same message came twice at once.
    if (result.outcome !== 'done') {
      const former = await findFormer(core, message, identity);
      if (former === undefined) throw new ArcpError('ABORTED', 'The session was opened twice at once');
      return takeUp(core, message, identity, former, limit);
    }
  }
  return { session: { ...session, id, identity }, engine, isResumed: false, body: accepted.body };
}

async function takeUp(
  core: Core,
  message: Opening,
  identity: Identity,
  record: StoredRecord,
  limit: number,
): Promise<Opened> {
  const former = sessionOf(record);
  const { settings, durable: engine } = core;
  const capabilities = negotiate(settings.capabilities, message.payload.capabilities);
  const kept = {
    ...former,
    limits: limitsOf(core, message.payload),
    capabilities,
    wantsValue: message.payload.versions === undefined,
    trust: lower(identity.trust, message.payload.trust_level),
    seenAt: core.durable.now(),
  };
  const accepted = accept(core, engine, message, record.key, kept, limit);
  const { resume_token: used } = message.payload;
  const formerDigest = used === undefined ? former.tokenDigest : digestOf(used);
  const session: KeptSession = { ...kept, tokenDigest: accepted.tokenDigest, formerDigest };
  const result = await engine.log.commit({ records: [sessionRecord(record.key, session, record.version)] });
  if (result.outcome !== 'done') {
    const now = await engine.store.readRecord(SESSIONS, record.key);
    if (now === undefined) throw new ArcpError('NOT_FOUND', 'There is no such session any more');
    const { closedAt, tokenDigest } = sessionOf(now);
    if (closedAt !== undefined) throw new ArcpError('FAILED_PRECONDITION', 'The session was closed');
    // Another token shows that the session was resumed elsewhere.
    if (tokenDigest === former.tokenDigest) return takeUp(core, message, identity, now, limit);
    throw new ArcpError('ABORTED', 'Somebody else has taken the session up meanwhile');
  }
  return { session: { ...session, id: record.key, identity }, engine, isResumed: true, body: accepted.body };
}

/** An error always fits into the limits. */
function limitsOf({ settings }: Core, { limits = {} }: Opening['payload']): MessageLimits {
  const { max_message_bytes = settings.maxMessageBytes, max_depth = MAX_DEPTH } = limits;
  return {
    maxMessageBytes: Math.max(MIN_MESSAGE_BYTES, Math.min(settings.maxMessageBytes, max_message_bytes)),
    maxDepth: Math.max(MIN_DEPTH, Math.min(MAX_DEPTH, max_depth)),
  };
}

type Unaccepted = Omit<KeptSession, 'tokenDigest' | 'acceptedId'>;

function accept(core: Core, { log }: Engine, message: Opening, id: string, session: Unaccepted, limit: number) {
  const { settings } = core;
  const token = newToken();
  const isOpen = ({ options }: Registration): boolean => session.trust !== 'untrusted' || options.isPublic === true;
  const works = [...core.works()].filter(isOpen);
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
      tools: works.filter(({ kind }) => kind === 'tool').map(toolInfo),
      workflows: works.filter(({ kind }) => kind === 'workflow').map(toolInfo),
      agents: works
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
  const { description, input, output, permissions, durable } = options;
  return {
    name,
    description,
    input_schema: input && jsonSchema(input, 'input'),
    output_schema: output && jsonSchema(output, 'output'),
    permissions: permissions && [...permissions],
    durable,
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  return { ...toJSONSchema(schema, { io, unrepresentable: 'any' }) };
}

function lower(given: TrustLevel, wanted: TrustLevel | undefined): TrustLevel {
  if (wanted === undefined) return given;
  return TRUST_LEVELS.indexOf(wanted) < TRUST_LEVELS.indexOf(given) ? wanted : given;
}
