/** Who has begun what, from the messages alone (spec 003, "Delivery Semantics": "Clients SHOULD reconstruct execution graphs"). */
import type { Envelope } from '../protocol/envelope.js';
import type { ErrorBody } from '../protocol/errors.js';
import { outcomeIn } from '../protocol/outcome.js';
import type { JobState } from '../protocol/payloads/parts.js';

/** The kind of a node; a call is a tool that runs without a job of its own. */
export type NodeKind = 'session' | 'job' | 'call' | 'stream' | 'permission' | 'span';

export type NodeState = JobState | 'open' | 'granted' | 'denied' | 'unknown';

export interface GraphNode {
  readonly id: string;
  readonly kind: NodeKind;
  /** Of the tool, the workflow, the agent, the stream, the permission or the span; by default its id. */
  readonly name: string;
  readonly state: NodeState;
  readonly parent: GraphNode | undefined;
  /** In the order of their start. */
  readonly children: readonly GraphNode[];
  readonly traceId: string | undefined;
  /** Milliseconds since 1970 of the first message about it, and of the last. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Of a job: the last attempt. */
  readonly attempt: number | undefined;
  /** Messages about this node alone; of a stream, its chunks. */
  readonly messages: number;
  readonly error: ErrorBody | undefined;
  /** The agents that took it over. */
  readonly handoffs: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Draft extends Mutable<Omit<GraphNode, 'name' | 'parent' | 'children' | 'handoffs'>> {
  name: string | undefined;
  stateAt: number;
  parentId: string | undefined;
  spanId: string | undefined;
  /** The id of the message with the time `firstAt`, which orders nodes of the same millisecond. */
  first: string;
  handoffs: (Beginning & { readonly to: string })[];
}

/** The order of states with the same timestamp. An end is final. */
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

export class ExecutionGraph {
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  /** Nodes without a parent. */
  readonly roots: readonly GraphNode[];

  private constructor(nodes: ReadonlyMap<string, GraphNode>) {
    this.#nodes = nodes;
    this.roots = [...nodes.values()].filter(({ parent }) => parent === undefined);
  }

  /** Builds a graph from messages in any order; repeated messages count once. */
  static from(messages: Iterable<Envelope>): ExecutionGraph {
    return new ExecutionGraph(new Builder().read(messages));
  }

  /** Finds a session, a job, a call (by its command), a stream, a permission request or a span. */
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

class Builder {
  readonly #drafts = new Map<string, Draft>();
  readonly #seen = new Set<string>();
  readonly #jobOf = new Map<string, string>();

  read(messages: Iterable<Envelope>): Map<string, GraphNode> {
    for (const message of messages) {
      if (this.#seen.has(message.id)) continue;
      this.#seen.add(message.id);
      this.#take(message);
    }
    return this.#linked();
  }

  #take(message: Envelope): void {
    const { session_id: sessionId, job_id: jobId } = message;
    if (sessionId !== undefined) this.#draft(sessionId, 'session', message);
    if (jobId !== undefined) this.#note(this.#draft(jobId, 'job', message, sessionId), message);
    switch (message.type) {
      case 'session.accepted':
        this.#draft(message.payload.session_id, 'session', message).state = 'open';
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
        this.#ended(message, outcomeIn(message)!.state, message.payload.error);
        break;
      case 'permission.request':
        this.#asked(message);
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
        move(job, outcomeIn(message)!.state, message);
        break;
      case 'event.emit':
        this.#event(job, message);
    }
  }

  #event(job: Draft, message: Envelope<'event.emit'>): void {
    const { name, attributes = {} } = message.payload;
    const { to, request_id: request, decision } = attributes as Readonly<Record<string, unknown>>;
    // The answer itself may be missing in the log of a runtime.
    if (typeof request === 'string' && (decision === 'granted' || decision === 'denied'))
      move(this.#draft(request, 'permission', message, job.id), decision, message);
    if (typeof to !== 'string') return;
    if (name === 'arcp.job.state' && Object.hasOwn(RANK, to)) move(job, to as JobState, message);
    if (name === 'arcp.agent.transferred')
      job.handoffs.push({ firstAt: Date.parse(message.timestamp), first: message.id, to });
  }

  /** A command is a call until it becomes a job. */
  #invoked(message: Envelope, name: string): void {
    const call = this.#draft(message.id, 'call', message, message.job_id ?? message.session_id);
    call.name = name;
    call.spanId = message.span_id;
    this.#note(call, message);
  }

  #acknowledged({ correlation_id: id }: Envelope): void {
    const call = id === undefined ? undefined : this.#drafts.get(id);
    if (call?.kind === 'call' && RANK[call.state] < RANK.running) call.state = 'running';
  }

  #ended(message: Envelope, state: NodeState, error?: ErrorBody): void {
    const { correlation_id: id } = message;
    if (id === undefined || (message.type === 'nack' && this.#drafts.get(id)?.kind !== 'call')) return;
    const call = this.#draft(id, 'call', message, message.job_id ?? message.session_id);
    this.#note(call, message);
    if (error !== undefined) call.error = error;
    move(call, state, message);
  }

  #asked(message: Envelope<'permission.request'>): void {
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

  #note(draft: Draft, { stream_id: streamId }: Envelope): void {
    if (streamId === undefined) draft.messages++;
  }

  #linked(): Map<string, GraphNode> {
    // A command and the job that it started are one node.
    for (const [commandId, jobId] of this.#jobOf) {
      const call = this.#drafts.get(commandId);
      const job = this.#drafts.get(jobId);
      if (call?.kind !== 'call' || job === undefined) continue;
      job.name ??= call.name;
      startAt(job, call);
      this.#drafts.delete(commandId);
    }
    const drafts = [...this.#drafts.values()].sort((a, b) => byBeginning(a, b) || (a.id < b.id ? -1 : 1));
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
    // Untrusted messages may name each other in a circle.
    dropCircles(parents);
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
  const handoffs = draft.handoffs.toSorted(byBeginning).map(({ to }) => to);
  return { ...draft, name: draft.name ?? draft.id, handoffs, parent: undefined, children: [] };
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

function dropCircles(parents: Map<string, string>): void {
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

type Beginning = Pick<Draft, 'firstAt' | 'first'>;

function byBeginning(a: Readonly<Beginning>, b: Readonly<Beginning>): number {
  return a.firstAt - b.firstAt || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0);
}

function startAt(draft: Beginning, { firstAt, first }: Readonly<Beginning>): void {
  if (byBeginning({ firstAt, first }, draft) >= 0) return;
  draft.firstAt = firstAt;
  draft.first = first;
}
