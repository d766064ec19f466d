/** Execution graphs, reconstructed from messages (spec 003, "Delivery Semantics": "Clients SHOULD reconstruct execution graphs"). */
import type { Envelope } from '../protocol/envelope.js';
import type { ErrorBody } from '../protocol/errors.js';
import type { JobState } from '../protocol/payloads/parts.js';

/** The kind of a node. A call is a tool call without its own job. */
export type NodeKind = 'session' | 'job' | 'call' | 'stream' | 'permission' | 'span';

/** The state of a node. */
export type NodeState = JobState | 'open' | 'granted' | 'denied' | 'unknown';

/** A node of an execution graph. */
export interface GraphNode {
  /** The id of the session, job, command, stream, permission request or span. */
  readonly id: string;
  /** The type of the object that the node represents. */
  readonly kind: NodeKind;
  /** The name of the tool, workflow, agent, stream, permission or span; the id if it is unknown. */
  readonly name: string;
  /** The last known state. */
  readonly state: NodeState;
  /** The node that started this one; `undefined` if it is unknown. */
  readonly parent: GraphNode | undefined;
  /** The nodes that this one started, in order of their start. */
  readonly children: readonly GraphNode[];
  /** The trace; `undefined` for a session. */
  readonly traceId: string | undefined;
  /** The time of the first message about the node, in milliseconds since 1970. */
  readonly firstAt: number;
  /** The time of the last message about the node, in milliseconds since 1970. */
  readonly lastAt: number;
  /** The number of the last attempt of a job. */
  readonly attempt: number | undefined;
  /** The number of messages about this node alone; of chunks for a stream. */
  readonly messages: number;
  /** The error with which it failed. */
  readonly error: ErrorBody | undefined;
  /** The agents that received the job by a handoff, in order. */
  readonly handoffs: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Draft extends Mutable<Omit<GraphNode, 'name' | 'parent' | 'children' | 'handoffs'>> {
  name: string | undefined;
  stateAt: number;
  parentId: string | undefined;
  spanId: string | undefined;
  /** The id of the first message, which orders nodes of the same millisecond. */
  first: string;
  handoffs: (Start & { readonly to: string })[];
}

/** The order of states with the same timestamp. An end state is final. */
const RANK: Readonly<Record<NodeState, number>> = {
  unknown: 0,
  open: 1,
  accepted: 1,
  queued: 2,
  running: 3,
  blocked: 4,
  paused: 4,
  granted: 9,
  denied: 9,
  completed: 9,
  failed: 9,
  cancelled: 9,
};

/** A graph of sessions, jobs, calls, streams, permission requests and spans. */
export class ExecutionGraph {
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  /** The nodes without a parent, in order of their start. */
  readonly roots: readonly GraphNode[];

  /** @internal {@link ExecutionGraph.from} and {@link GraphBuilder} create graphs. */
  constructor(nodes: ReadonlyMap<string, GraphNode>) {
    this.#nodes = nodes;
    this.roots = [...nodes.values()].filter(({ parent }) => parent === undefined);
  }

  /** Builds a graph from messages in any order. Repeated messages count once. */
  static from(messages: Iterable<Envelope>): ExecutionGraph {
    const builder = new GraphBuilder();
    for (const message of messages) builder.add(message);
    return builder.build();
  }

  /** Returns a node by the id of its session, job, command, stream, permission request or span. */
  get(id: string): GraphNode | undefined {
    return this.#nodes.get(id);
  }

  /** Iterates over all nodes, parents first. */
  *[Symbol.iterator](): IterableIterator<GraphNode> {
    const rest = [...this.roots].toReversed();
    for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
      yield node;
      rest.push(...node.children.toReversed());
    }
  }
}

/** Builds the graph of messages that arrive over time. */
export class GraphBuilder {
  readonly #drafts = new Map<string, Draft>();
  readonly #seen = new Set<string>();
  readonly #jobOf = new Map<string, string>();

  /** Adds a message, in any order. A repeated message is ignored. */
  add(message: Envelope): void {
    if (this.#seen.has(message.id)) return;
    this.#seen.add(message.id);
    this.#handle(message);
  }

  /** Returns the graph of the messages so far. */
  build(): ExecutionGraph {
    return new ExecutionGraph(this.#link());
  }

  #handle(message: Envelope): void {
    const { session_id: sessionId, job_id: jobId } = message;
    if (sessionId !== undefined) this.#draft(sessionId, 'session', message);
    if (jobId !== undefined) this.#countMessage(this.#draft(jobId, 'job', message, sessionId), message);
    switch (message.type) {
      case 'session.accepted':
        this.#draft(message.payload.session_id, 'session', message).state = 'open';
        break;
      case 'session.close':
        if (sessionId !== undefined) move(this.#draft(sessionId, 'session', message), 'completed', message);
        break;
      case 'tool.invoke':
        this.#invoked(message, message.payload.tool);
        break;
      case 'workflow.start':
        this.#invoked(message, message.payload.workflow);
        break;
      case 'agent.delegate':
        this.#invoked(message, message.payload.target);
        break;
      case 'ack':
        this.#acknowledged(message);
        break;
      case 'nack':
        this.#ended(message, 'failed', message.payload);
        break;
      case 'tool.result':
        this.#ended(message, 'completed');
        break;
      case 'tool.error':
        if (message.payload.will_retry !== true) this.#ended(message, 'failed', message.payload);
        break;
      case 'workflow.complete':
        this.#ended(message, endState(message), message.payload.error);
        break;
      case 'permission.request':
        this.#requested(message);
        break;
      case 'permission.grant':
      case 'permission.deny':
        this.#answered(message);
        break;
      case 'trace.span':
        this.#span(message);
        break;
      default:
        if (message.stream_id !== undefined) this.#stream(message);
        else if (jobId !== undefined) this.#job(this.#drafts.get(jobId)!, message);
    }
  }

  #job(job: Draft, message: Envelope): void {
    switch (message.type) {
      case 'job.accepted': {
        const { tool, workflow, agent, parent_job_id: parentId, state = 'accepted', duplicate } = message.payload;
        job.name = tool ?? workflow ?? agent ?? job.name;
        if (parentId !== undefined) job.parentId = parentId;
        if (message.correlation_id !== undefined) this.#jobOf.set(message.correlation_id, job.id);
        if (duplicate !== true) job.spanId = message.span_id;
        move(job, state, message);
        break;
      }
      case 'job.started':
        job.attempt = Math.max(job.attempt ?? 0, message.payload.attempt ?? 1);
        move(job, 'running', message);
        break;
      case 'job.completed':
      case 'job.failed':
      case 'job.cancelled':
        if (message.type === 'job.failed') job.error = message.payload;
        move(job, endState(message), message);
        break;
      case 'event.emit':
        this.#event(job, message);
    }
  }

  #event(job: Draft, message: Envelope<'event.emit'>): void {
    const { name, attributes = {} } = message.payload;
    const { to, request_id: request, decision } = attributes as Readonly<Record<string, unknown>>;
    // The log of a runtime may not contain the answer itself.
    if (typeof request === 'string' && (decision === 'granted' || decision === 'denied'))
      move(this.#draft(request, 'permission', message, job.id), decision, message);
    if (typeof to !== 'string') return;
    if (name === 'arcp.job.state' && Object.hasOwn(RANK, to)) move(job, to as JobState, message);
    if (name === 'arcp.agent.transferred')
      job.handoffs.push({ firstAt: Date.parse(message.timestamp), first: message.id, to });
  }

  /** Handles a command, which is a call until it becomes a job. */
  #invoked(message: Envelope, name: string): void {
    const call = this.#draft(message.id, 'call', message, message.job_id ?? message.session_id);
    call.name = name;
    call.spanId = message.span_id;
    this.#countMessage(call, message);
  }

  #acknowledged({ correlation_id: id }: Envelope): void {
    const call = id === undefined ? undefined : this.#drafts.get(id);
    if (call?.kind === 'call' && RANK[call.state] < RANK.running) call.state = 'running';
  }

  #ended(message: Envelope, state: NodeState, error?: ErrorBody): void {
    const { correlation_id: id } = message;
    if (id === undefined || (message.type === 'nack' && this.#drafts.get(id)?.kind !== 'call')) return;
    const call = this.#draft(id, 'call', message, message.job_id ?? message.session_id);
    this.#countMessage(call, message);
    if (error !== undefined) call.error = error;
    move(call, state, message);
  }

  #requested(message: Envelope<'permission.request'>): void {
    const { permission, resource } = message.payload;
    const parent = message.correlation_id ?? message.job_id ?? message.session_id;
    const request = this.#draft(message.id, 'permission', message, parent);
    request.name = resource === undefined ? permission : `${permission} ${resource}`;
    move(request, 'open', message);
  }

  #answered(message: Envelope<'permission.grant' | 'permission.deny'>): void {
    if (message.correlation_id === undefined) return;
    const request = this.#draft(message.correlation_id, 'permission', message, message.job_id ?? message.session_id);
    move(request, message.type === 'permission.grant' ? 'granted' : 'denied', message);
  }

  #stream(message: Envelope): void {
    const parent = message.correlation_id ?? message.job_id ?? message.session_id;
    const stream = this.#draft(message.stream_id!, 'stream', message, parent);
    if (message.type === 'stream.open') {
      const { name, kind } = message.payload;
      stream.name = name ?? kind;
      move(stream, 'open', message);
    } else if (message.type === 'stream.chunk') {
      const { sequence = 0, last_sequence: last = sequence } = message.payload;
      stream.messages += last - sequence + 1;
    } else if (message.type === 'stream.close') move(stream, 'completed', message);
    else if (message.type === 'stream.error') {
      stream.error = message.payload;
      move(stream, 'failed', message);
    }
  }

  #span(message: Envelope<'trace.span'>): void {
    const { name, span_id = message.span_id, start_time, end_time, duration_ms = 0, status } = message.payload;
    if (span_id === undefined) return;
    const parent = message.payload.parent_span_id ?? message.parent_span_id;
    const span = this.#draft(span_id, 'span', message, parent);
    span.name = name;
    span.spanId = span_id;
    if (start_time !== undefined) span.firstAt = Date.parse(start_time);
    span.lastAt = end_time === undefined ? span.firstAt + duration_ms : Date.parse(end_time);
    move(span, status === 'error' ? 'failed' : 'completed', message);
  }

  #draft(id: string, kind: NodeKind, message: Envelope, parentId?: string): Draft {
    const { id: first, trace_id: traceId } = message;
    const at = Date.parse(message.timestamp);
    const known = this.#drafts.get(id);
    if (known !== undefined) {
      startAt(known, { firstAt: at, first });
      known.lastAt = Math.max(known.lastAt, at);
      known.parentId ??= parentId;
      if (kind !== 'session') known.traceId ??= traceId;
      return known;
    }
    const draft: Draft = {
      id,
      kind,
      name: undefined,
      state: 'unknown',
      stateAt: Number.NEGATIVE_INFINITY,
      parentId,
      spanId: undefined,
      traceId: kind === 'session' ? undefined : traceId,
      firstAt: at,
      lastAt: at,
      attempt: undefined,
      messages: 0,
      first,
      error: undefined,
      handoffs: [],
    };
    this.#drafts.set(id, draft);
    return draft;
  }

  #countMessage(draft: Draft, { stream_id: streamId }: Envelope): void {
    if (streamId === undefined) draft.messages++;
  }

  #link(): Map<string, GraphNode> {
    // A command and the job that it starts are one node.
    const merged = new Set<Draft>();
    for (const [commandId, jobId] of this.#jobOf) {
      const call = this.#drafts.get(commandId);
      const job = this.#drafts.get(jobId);
      if (call?.kind !== 'call' || job === undefined) continue;
      job.name ??= call.name;
      startAt(job, call);
      merged.add(call);
    }
    const drafts = [...this.#drafts.values()]
      .filter((draft) => !merged.has(draft))
      .sort((a, b) => byStart(a, b) || (a.id < b.id ? -1 : 1));
    const bySpan = new Map<string, string>();
    for (const { id, spanId } of drafts) if (spanId !== undefined) bySpan.set(spanId, id);
    const nodes = new Map<string, MutableNode>();
    for (const draft of drafts) nodes.set(draft.id, nodeOf(draft));
    const parents = new Map<string, string>();
    for (const { id, parentId, kind } of drafts) {
      if (parentId === undefined) continue;
      const through = kind === 'span' ? bySpan.get(parentId) : (this.#jobOf.get(parentId) ?? parentId);
      if (through !== undefined && nodes.has(through)) parents.set(id, through);
    }
    // Untrusted messages may refer to each other in a cycle.
    removeCycles(parents);
    for (const [id, parentId] of parents) {
      const node = nodes.get(id)!;
      node.parent = nodes.get(parentId)!;
      node.parent.children.push(node);
    }
    return nodes as Map<string, GraphNode>;
  }
}

type MutableNode = Omit<GraphNode, 'parent' | 'children'> & {
  parent: MutableNode | undefined;
  children: MutableNode[];
};

function nodeOf({ stateAt: _, parentId: __, spanId: ___, first: ____, ...draft }: Draft): MutableNode {
  const handoffs = draft.handoffs.toSorted(byStart).map(({ to }) => to);
  return { ...draft, name: draft.name ?? draft.id, handoffs, parent: undefined, children: [] };
}

/** Returns the state in which a job or workflow ended. */
function endState({
  type,
  payload,
}: Envelope<'job.completed' | 'job.failed' | 'job.cancelled' | 'workflow.complete'>): NodeState {
  if (type === 'workflow.complete') return payload.status ?? (payload.error === undefined ? 'completed' : 'failed');
  return type === 'job.completed' ? 'completed' : type === 'job.failed' ? 'failed' : 'cancelled';
}

function move(draft: Draft, state: NodeState, { timestamp }: Envelope): void {
  const at = Date.parse(timestamp);
  const hasEnded = RANK[draft.state] === RANK.completed;
  const ends = RANK[state] === RANK.completed;
  if (hasEnded && !ends) return;
  const isLater = at > draft.stateAt || (at === draft.stateAt && RANK[state] >= RANK[draft.state]);
  if (!isLater && !(ends && !hasEnded)) return;
  draft.state = state;
  draft.stateAt = at;
}

function removeCycles(parents: Map<string, string>): void {
  const checked = new Set<string>();
  for (const start of [...parents.keys()]) {
    const path = new Set<string>();
    let at: string | undefined = start;
    while (at !== undefined && !checked.has(at)) {
      path.add(at);
      const next = parents.get(at);
      if (next !== undefined && path.has(next)) {
        parents.delete(at);
        break;
      }
      at = next;
    }
    for (const id of path) checked.add(id);
  }
}

type Start = Pick<Draft, 'firstAt' | 'first'>;

function byStart(a: Readonly<Start>, b: Readonly<Start>): number {
  return a.firstAt - b.firstAt || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0);
}

function startAt(draft: Start, { firstAt, first }: Readonly<Start>): void {
  if (byStart({ firstAt, first }, draft) >= 0) return;
  draft.firstAt = firstAt;
  draft.first = first;
}
