/** Ends of sessions that stand in for programs that speak MCP, and not ACCP. */
import type { Codec } from '../../codec/codec.js';
import { createSession, partsOfSession, type Session } from '../../session/session.js';
import { type Agreement, createRegistryExchange, type RegistryExchange } from './registry-exchange.js';

/** The agent that speaks for a program that does not speak ACCP. */
export const STAND_IN = 'mcp';

/** Exchanges of one process with itself, by codec, mode and agent. */
const EXCHANGES = new WeakMap<Codec, Map<string, RegistryExchange>>();

function exchangeOf(
  { codec, sequence }: Pick<RegistryExchange, 'codec' | 'sequence'>,
  agent: string,
): RegistryExchange {
  let exchanges = EXCHANGES.get(codec);
  if (exchanges === undefined) {
    exchanges = new Map();
    EXCHANGES.set(codec, exchanges);
  }
  const key = `${sequence} ${agent}`;
  let exchange = exchanges.get(key);
  if (exchange === undefined) {
    exchange = createRegistryExchange({ codec, agent, sequence });
    exchanges.set(key, exchange);
  }
  return exchange;
}

/** Both ends have one codec: so they know each other's registry, and how the other writes text. */
export function agreementWithStandIn(rules: Pick<RegistryExchange, 'codec' | 'sequence'>, agent: string): Agreement {
  const exchange = exchangeOf(rules, agent);
  return exchange.agree(exchange.announcement);
}

/** The other end of a session, as it would be if the other side spoke ACCP: its next frame has the number that is waited for. */
export function standInFor(agent: string, session: Session, codec: Codec): Session {
  const { options, delivery } = partsOfSession(session);
  const { sequence } = options;
  const standIn = createSession({ agent, id: session.id, sequence, firstSequence: delivery.expected(agent) });
  agreementWithStandIn({ codec, sequence }, session.agent).apply(standIn);
  agreementWithStandIn({ codec, sequence }, agent).apply(session);
  return standIn;
}
