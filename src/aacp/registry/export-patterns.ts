/** Registries as the reference SDK keeps them: `unknown_patterns.json`. */
import { instructionId, normaliseInstruction } from '../matching/instruction/normalise.js';
import { keywordsOf } from './keywords.js';
import type { Registry, RegistryEntry } from './registry.js';

/** One entry of the file. Names and order are the reference's. */
export interface SdkPattern {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly domain: string;
  readonly english: string;
  readonly english_normalised: string;
  readonly keywords: readonly string[];
  readonly aacp_packet: string;
  readonly compression_loss: 'none';
  readonly loss_note: string;
  readonly token_estimate_english: number;
  readonly token_estimate_packet: number;
  /** Per cent, to one decimal place. */
  readonly reduction_pct: number;
  readonly rule_based_written: boolean;
  readonly times_seen: number;
}

export interface ExportOptions {
  /** Counts tokens. @default a quarter of the characters, as the reference estimates */
  readonly countTokens?: ((text: string) => number) | undefined;
}

/** The format wants a loss, and readers know only `none`, `minor` and `partial`. */
const LOSS_NOTE = 'not measured';

/**
 * All entries of a registry, expired ones included, as JSON text in the form of the reference SDK's file. The format has no place
 * for models, prices and hits, nor for agent and priority, which the packets say.
 *
 * @throws RegistryError when the registry cannot be read
 */
export function exportPatterns(registry: Registry, { countTokens = estimate }: ExportOptions = {}): string {
  const patterns = Array.from(registry.entries(), (entry) => patternOf(entry, countTokens));
  return `${JSON.stringify(patterns, null, 2)}\n`;
}

function patternOf(entry: RegistryEntry, countTokens: (text: string) => number): SdkPattern {
  const { instruction, packet, domain, created, covered, timesSeen } = entry;
  const normalised = normaliseInstruction(instruction);
  const english = countTokens(instruction);
  const tokens = countTokens(packet);
  return {
    id: instructionId(normalised),
    timestamp: new Date(created).toISOString(),
    domain,
    english: instruction,
    english_normalised: normalised,
    keywords: keywordsOf(instruction),
    aacp_packet: packet,
    compression_loss: 'none',
    loss_note: LOSS_NOTE,
    token_estimate_english: english,
    token_estimate_packet: tokens,
    reduction_pct: english > 0 ? Math.round((1 - tokens / english) * 1000) / 10 : 0,
    rule_based_written: covered === true,
    times_seen: timesSeen,
  };
}

function estimate(text: string): number {
  return Math.floor(text.length / 4);
}
