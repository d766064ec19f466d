/** The sums over a registry, from those over parts of it. */
import type { RegistryStatistics } from './registry.js';

/** The sums over some entries of one domain. */
export interface DomainStatistics extends Omit<RegistryStatistics, 'byDomain'> {
  readonly domain: string;
}

export function statisticsOf(parts: Iterable<DomainStatistics>): RegistryStatistics {
  const sum = { entries: 0, timesSeen: 0, served: 0, pending: 0, spent: 0, saved: 0, unpriced: 0, expired: 0 };
  const names = Object.keys(sum) as (keyof typeof sum)[];
  const domains = new Map<string, number>();
  for (const part of parts) {
    for (const name of names) sum[name] += part[name];
    domains.set(part.domain, (domains.get(part.domain) ?? 0) + part.entries);
  }
  // Domains are other people's words: __proto__ is one like any other.
  const byDomain: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [domain, entries] of domains) byDomain[domain] = entries;
  return { ...sum, byDomain };
}
