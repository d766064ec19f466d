/** The activity that messages are about, as a tree that grows: sessions, jobs, calls, streams, permission requests, and chains of frames. */
import { GraphBuilder, type GraphNode } from '../../arcp/logs/graph.js';
import type { Envelope } from '../../arcp/protocol/envelope.js';
import { type Content, type Members, type Message, members, readContent, start } from './message.js';

/** A node of the tree. */
export interface ActivityNode {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly state: string;
  /** Milliseconds between its first and its last message. */
  readonly durationMs: number;
  readonly messages: number;
  /** Progress, an attempt, an error. */
  readonly note: string;
  readonly depth: number;
}

/** A permission request. */
export interface PermissionRequest {
  readonly message: Message;
  readonly permission: string;
  readonly resource: string;
  readonly operation: string;
  readonly reason: string;
  readonly state: 'pending' | 'granted' | 'denied' | 'ended';
}

/** A connection. */
export interface Connection {
  readonly session: string;
  readonly about: string;
  readonly isOpen: boolean;
  /** If true, messages can be sent on it. */
  readonly canSend: boolean;
}

interface Call {
  readonly id: string;
  readonly session: string;
  readonly name: string;
  readonly firstAt: number;
  lastAt: number;
  messages: number;
  state: string;
  note: string;
}

/** Nodes beyond this number are not shown. */
export const MAX_NODES = 2000;

/** More connections than this are kept only if they are open. */
const MAX_CONNECTIONS = 200;

/** Collects the activity of messages in their order. */
export class Activity {
  readonly #graph = new GraphBuilder();
  readonly #progress = new Map<string, string>();
  readonly #calls = new Map<string, Call>();
  readonly #permissions = new Map<string, PermissionRequest>();
  readonly connections = new Map<string, Connection>();
  /** The tools that runtimes have announced, with the schemas of their inputs. */
  readonly tools = new Map<string, Members | undefined>();
  /** The ARCP session of each connection. */
  readonly sessions = new Map<string, string>();
  /** The highest number of a client in each ACCP session. */
  readonly sequences = new Map<string, number>();

  add(message: Message): void {
    const { record, language } = message;
    if (record.kind !== undefined) this.#connection(message);
    else if (language === 'accp' || language === 'jsonrpc') this.#call(message, readContent(record.text));
    else if (language === 'arcp' && record.verdict === undefined) {
      try {
        this.#envelope(message, JSON.parse(record.text) as Envelope);
      } catch {
        // A message that the page cannot follow is in the timeline all the same.
      }
    }
  }

  #connection({ record: { session, kind, text, canSend = false } }: Message): void {
    const known = this.connections.get(session);
    if (kind === 'opened') this.connections.set(session, { session, about: text, isOpen: true, canSend });
    else if (kind === 'closed' && known !== undefined) this.#closed(known);
  }

  /** Keeps some closed connections, which each request over HTTP is. */
  #closed(known: Connection): void {
    this.connections.delete(known.session);
    this.connections.set(known.session, { ...known, isOpen: false });
    if (this.connections.size <= MAX_CONNECTIONS) return;
    for (const { session, isOpen } of this.connections.values())
      if (!isOpen) {
        this.connections.delete(session);
        return;
      }
  }

  #envelope(message: Message, envelope: Envelope): void {
    this.#graph.add(envelope);
    const { type, payload, job_id: job, correlation_id: of } = envelope;
    if (type === 'job.progress' && job !== undefined) {
      const { percent, current, total } = payload;
      this.#progress.set(
        job,
        percent === undefined ? `${current ?? ''}${total === undefined ? '' : `/${total}`}` : `${percent} %`,
      );
    } else if (type === 'session.accepted') {
      this.sessions.set(message.record.session, payload.session_id);
      for (const { name, input_schema } of payload.tools ?? [])
        this.tools.set(name, input_schema as Members | undefined);
    } else if (type === 'permission.request') {
      const { permission, resource = '', operation = '', reason = '' } = payload;
      const request = { message, permission, resource, operation, reason, state: 'pending' } as const;
      if (!this.#permissions.has(envelope.id)) this.#permissions.set(envelope.id, request);
    } else if (type === 'permission.grant' || type === 'permission.deny')
      this.#decide(of, type === 'permission.grant' ? 'granted' : 'denied');
    else if (type === 'nack') this.#refused(payload.nack_for);
    else if (type === 'event.emit') {
      const { request_id: request, decision } = members(payload.attributes);
      if (decision === 'granted' || decision === 'denied') this.#decide(request, decision);
    } else if (type === 'job.completed' || type === 'job.failed' || type === 'job.cancelled')
      for (const [id, request] of this.#permissions)
        if (request.message.ids['job_id'] === job && request.state === 'pending')
          this.#permissions.set(id, { ...request, state: 'ended' });
  }

  #decide(id: unknown, state: 'granted' | 'denied'): void {
    const request = typeof id === 'string' ? this.#permissions.get(id) : undefined;
    if (request !== undefined) this.#permissions.set(request.message.ids['id']!, { ...request, state });
  }

  /** A refused answer leaves the request open, but the page cannot know which one it was unless the runtime names it. */
  #refused(id: unknown): void {
    const request = typeof id === 'string' ? this.#permissions.get(id) : undefined;
    if (request !== undefined) this.#permissions.set(request.message.ids['id']!, { ...request, state: 'pending' });
  }

  #call(message: Message, content: Content): void {
    if (content.language === 'jsonrpc') {
      const all = Array.isArray(content.value) ? (content.value as unknown[]) : [content.value];
      for (const one of all) this.#rpc(message, members(one));
    } else if (content.language === 'accp' && content.frame !== undefined) {
      const { ids, record } = message;
      const { intent, operation, metadata } = content.frame;
      const session = ids['sid'] ?? record.session;
      const sequence = metadata?.find(({ key }) => key === 'seq')?.value;
      if (sequence?.kind === 'integer' && record.side !== 'server')
        this.sequences.set(session, Math.max(this.sequences.get(session) ?? 0, Number(sequence.value)));
      const id = ids['cid'] ?? ids['mid'];
      if (id === undefined) return;
      const call = this.#callOf(`${session} ${id}`, id, session, operation, message);
      if (intent === 'done') call.state = 'completed';
      else if (intent === 'fail') call.state = 'failed';
      else if (intent === 'cancel') call.state = 'cancelled';
      if (intent === 'fail') call.note = message.what;
    }
  }

  #rpc(message: Message, { method, id, error }: Members): void {
    if (id === undefined || id === null) return;
    const { record } = message;
    // Both sides number their calls.
    const isCall = typeof method === 'string';
    const isFromClient = record.side === 'client';
    const caller = record.side === 'log' ? 'log' : isCall === isFromClient ? 'client' : 'server';
    const key = `${record.session} ${caller} ${String(id)}`;
    if (!isCall && !this.#calls.has(key)) return;
    const call = this.#callOf(key, String(id), record.session, isCall ? start(method, 80) : '', message);
    if (!isCall) call.state = error === undefined ? 'completed' : 'failed';
    if (error !== undefined) call.note = start(String(members(error)['message'] ?? ''));
  }

  #callOf(key: string, id: string, session: string, name: string, { record: { t } }: Message): Call {
    let call = this.#calls.get(key);
    if (call === undefined) {
      call = { id, session, name, firstAt: t, lastAt: t, messages: 0, state: 'running', note: '' };
      this.#calls.set(key, call);
    }
    call.messages++;
    call.lastAt = Math.max(call.lastAt, t);
    return call;
  }

  /** Returns the permission requests, pending ones first. */
  permissions(): readonly PermissionRequest[] {
    const all = [...this.#permissions.values()].reverse();
    return [...all.filter(({ state }) => state === 'pending'), ...all.filter(({ state }) => state !== 'pending')];
  }

  /** Returns the first {@link MAX_NODES} nodes of the tree, parents first. */
  nodes(): readonly ActivityNode[] {
    const found: ActivityNode[] = [];
    const visit = (start: readonly GraphNode[]): void => {
      const rest = start.map((node) => ({ node, depth: 0 })).reverse();
      for (let next = rest.pop(); next !== undefined && found.length < MAX_NODES; next = rest.pop()) {
        const { node, depth } = next;
        found.push(this.#graphNode(node, depth));
        for (const child of [...node.children].reverse()) rest.push({ node: child, depth: depth + 1 });
      }
    };
    visit(this.#graph.build().roots);
    const sessions = new Map<string, Call[]>();
    for (const call of this.#calls.values()) {
      const calls = sessions.get(call.session);
      if (calls === undefined) sessions.set(call.session, [call]);
      else calls.push(call);
    }
    for (const [session, calls] of sessions) {
      if (found.length >= MAX_NODES) break;
      const messages = calls.reduce((sum, call) => sum + call.messages, 0);
      const durationMs = Math.max(...calls.slice(-1000).map((call) => call.lastAt)) - calls[0]!.firstAt;
      const [id, name] = [session, session || 'no session'];
      found.push({ id, kind: 'session', name, state: 'open', durationMs, messages, note: '', depth: 0 });
      // The latest ones are of interest.
      for (const { firstAt, lastAt, session: _, ...call } of calls.slice(-500))
        found.push({ ...call, kind: 'call', durationMs: lastAt - firstAt, depth: 1 });
    }
    return found;
  }

  #graphNode(
    { id, kind, name, state, firstAt, lastAt, messages, attempt, error }: GraphNode,
    depth: number,
  ): ActivityNode {
    const notes = [
      state === 'running' ? this.#progress.get(id) : undefined,
      attempt !== undefined && attempt > 1 ? `attempt ${attempt}` : undefined,
      error === undefined ? undefined : `${error.code}: ${error.message}`,
    ];
    const note = start(notes.filter((one) => one !== undefined && one !== '').join(', '));
    const shown = kind === 'permission' && state === 'open' ? 'pending' : state;
    return { id, kind, name: start(name, 80), state: shown, durationMs: lastAt - firstAt, messages, note, depth };
  }
}
