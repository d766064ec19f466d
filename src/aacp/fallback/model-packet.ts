/** From a model's packet to one that is right for the request, or what is wrong with it. */
import type { Field, Packet } from '../ast.js';
import { tryParsePacket } from '../parse.js';
import { printPacket } from '../print.js';
import type { RegistryRequest } from '../registry/registry.js';
import { type PacketDiagnostic, validatePacket } from '../validate.js';
import { lowerAscii, TASKS, VERSION } from '../vocabulary.js';

/** A fault of a model's packet, as it is told to the model. */
export interface PacketFault {
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
}

export type JudgedPacket =
  | {
      readonly ok: true;
      readonly packet: string;
      readonly adjustments: readonly string[];
      readonly warnings: readonly PacketDiagnostic[];
    }
  | { readonly ok: false; readonly faults: readonly PacketFault[] };

/** The fields that the request and the protocol decide, at the head of each packet. */
const HEAD = ['return', 'p', 'aacp'] as const;

/**
 * Judges a packet that a model wrote. Who gets the result, how urgent it is and the version are not the model's to say: they
 * are set, and what was changed is told. All else has to be right as it stands.
 */
export function judgePacket(text: string, request: RegistryRequest): JudgedPacket {
  const read = tryParsePacket(text, { dialect: 'tolerant' });
  if (!read.ok) return { ok: false, faults: [{ code: read.error.code, message: read.error.message }] };
  const { packet, adjustments } = withHead(read.value, request);
  const faults: PacketFault[] = [...wordFaults(packet, request)];
  const verdict = validatePacket(packet);
  faults.push(...verdict.errors.map(faultOf));
  if (faults.length > 0) return { ok: false, faults };
  try {
    return { ok: true, packet: printPacket(packet), adjustments, warnings: verdict.warnings };
  } catch (thrown) {
    return { ok: false, faults: [{ code: 'unprintable', message: (thrown as Error).message }] };
  }
}

function withHead(packet: Packet, request: RegistryRequest): { packet: Packet; adjustments: readonly string[] } {
  const wanted = { return: request.returnAgent, p: request.priority, aacp: VERSION };
  const fields: readonly Field[] = packet.fields.map((field) => ({ ...field, key: lowerAscii(field.key) }));
  const adjustments: string[] = [];
  for (const key of HEAD) {
    const values = fields.filter((field) => field.key === key && !field.bare).map(({ value }) => value);
    if (values.length === 0) adjustments.push(`${key} was missing`);
    else if (values.some((value) => value !== wanted[key])) {
      adjustments.push(`${key} was ${values.map((value) => JSON.stringify(value.slice(0, 40))).join(', ')}`);
    }
  }
  const others = fields.filter(({ key, bare }) => bare || !HEAD.some((one) => one === key));
  const head = HEAD.map((key) => ({ key, value: wanted[key] }));
  return { packet: { ...packet, fields: [...head, ...others] }, adjustments };
}

/** The draft lets private words pass; a model that makes one up has misunderstood. */
function* wordFaults({ task, domain }: Packet, request: RegistryRequest): Iterable<PacketFault> {
  if (task !== '' && !Object.hasOwn(TASKS, task)) {
    yield {
      code: 'unknown-task',
      message: `${JSON.stringify(task.slice(0, 40))} is no TASK.`,
      help: Object.keys(TASKS).join(', '),
    };
  }
  if (domain !== '' && domain !== request.domain) {
    const found = JSON.stringify(domain.slice(0, 40));
    yield { code: 'other-domain', message: `The DOM is ${found}, and ${request.domain} was asked for.` };
  }
}

function faultOf({ code, message, help }: PacketDiagnostic): PacketFault {
  return { code, message, help };
}
