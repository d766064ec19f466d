/** What both sides of a session can do (spec 003, "Capability Negotiation"). */

export type Capabilities = Readonly<Record<string, unknown>>;

/** Names of capabilities that the protocol gives a meaning. */
export const CAPABILITIES = {
  streaming: 'streaming',
  durableJobs: 'durable_jobs',
  checkpoints: 'checkpoints',
  binaryStreams: 'binary_streams',
  agentHandoff: 'agent_handoff',
} as const;

const KNOWN: ReadonlySet<string> = new Set(Object.values(CAPABILITIES));

/**
 * What both can do: of booleans both, of lists what is in both, in the order of the first, of numbers the smaller; of anything
 * else what is the same on both sides. What only one side names, neither can do: it is left out, or `false` where the protocol knows it.
 */
export function negotiate(ours: Capabilities, theirs: Capabilities): Capabilities {
  const agreed: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const isShared = Object.hasOwn(ours, name) && Object.hasOwn(theirs, name);
    const value = isShared ? both(ours[name], theirs[name]) : KNOWN.has(name) ? false : undefined;
    if (value !== undefined) agreed.push([name, value]);
  }
  // A member may be called anything, `__proto__` included.
  return Object.fromEntries(agreed);
}

function both(own: unknown, other: unknown): unknown {
  if (typeof own === 'boolean' || typeof other === 'boolean') return own === true && other === true;
  if (Array.isArray(own) && Array.isArray(other)) {
    const known = new Set(other.map((item) => JSON.stringify(item)));
    return own.filter((item) => known.has(JSON.stringify(item)));
  }
  if (typeof own === 'number' && typeof other === 'number') return Math.min(own, other);
  return JSON.stringify(own) === JSON.stringify(other) ? own : undefined;
}

export function can(capabilities: Capabilities, name: string): boolean {
  return Object.hasOwn(capabilities, name) && capabilities[name] === true;
}
