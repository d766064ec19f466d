/** The client's part of registry sync (draft-benzing-accp-00, sections 6.4 and 11.3). */
import { AccpError } from '../../errors.js';
import { framesIn } from './content.js';
import type { Agreement, RegistryExchange } from './registry-exchange.js';
import { REGISTRY_URI, registryIn } from './registry-frames.js';
import { members, type RegistryClient } from './sdk-shapes.js';
import { agreementWithStandIn, STAND_IN } from './stand-in.js';

/** Registries that were read, by what announced them. */
const READ = new WeakMap<RegistryExchange, Map<string, Agreement>>();
/** So many are kept for each exchange. */
const MAX_READ = 256;

/**
 * Takes the registry that a connected server has announced in its instructions. Where it is another than the own one, all of
 * it is read from `accp://registry`, once for each hash.
 *
 * Source: draft-benzing-accp-00, sections 6.4 and 11.3.
 *
 * @returns what was agreed; with `mcp`, which stands in for the server in `callTool`, where the server does not speak ACCP
 * @throws AccpError on frames that announce no registry, E5001 where the resource is not what was announced; whatever reading
 *   the resource throws
 */
export async function readRegistry(client: RegistryClient, exchange: RegistryExchange): Promise<Agreement> {
  const frame = registryIn(client.getInstructions());
  if (frame === null) return agreementWithStandIn(exchange, STAND_IN);
  const announced = exchange.agree(frame);
  if (announced.complete) return announced;
  let read = READ.get(exchange);
  if (read === undefined) {
    read = new Map();
    READ.set(exchange, read);
  }
  const key = `${announced.agent} ${announced.version} ${announced.hash}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const resource = members(await client.readResource({ uri: REGISTRY_URI }));
  const full = exchange.agree(framesIn(resource?.['contents']));
  checkAnnounced(full, announced);
  read.set(key, full);
  if (read.size > MAX_READ) read.delete(read.keys().next().value!);
  return full;
}

/** Between the announcement and the reading, the registry may have grown. */
function checkAnnounced(full: Agreement, announced: Agreement): void {
  const isSame = full.hash.startsWith(announced.hash) || announced.hash.startsWith(full.hash);
  if (full.agent === announced.agent && full.complete && (isSame || full.version > announced.version)) return;
  throw new AccpError({ code: 'E5001', message: `The registry at ${REGISTRY_URI} is not the one that was announced.` });
}
