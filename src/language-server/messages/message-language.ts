/** The operations of the server on one message: the same for frames and packets. */
import type { Profile } from '../../aacp/index.js';
import type { Dialect } from '../../accp/index.js';
import type { Registry } from '../../accp/registry/registry.js';
import type { Fix } from '../../text/fix.js';
import type { ColoredSpan, Completion, Finding, Hover, Outline, SeenWords } from '../language.js';

/** The settings that concern messages. */
export interface MessageSettings {
  /** The grammar of frames. */
  readonly dialect: Dialect;
  /** The rules for packets. */
  readonly profile: Profile;
  /** Keys of packets that are no mistakes. */
  readonly privateKeys: readonly string[];
  /** The registry of the schemas of the profiles, or that of the user. */
  readonly registry: Registry;
  /** `true` if the user named a registry: then schemas and operations that it lacks are reported. */
  readonly hasRegistry: boolean;
}

/** The names in a message, for completion. */
export interface MessageWords {
  readonly agents: readonly string[];
  readonly operations: readonly string[];
  readonly ids: readonly string[];
  readonly references: readonly string[];
}

export interface MessageLanguage {
  /** Returns the findings in the order of the text. */
  check(text: string, settings: MessageSettings): readonly Finding[];
  /** Returns changes that may remove a finding. */
  fixes(text: string, finding: Finding, settings: MessageSettings): readonly Fix[];
  /** Returns the canonical text; `null` if the message is invalid. */
  format(text: string, settings: MessageSettings): string | null;
  colors(text: string): readonly ColoredSpan[];
  /** @param written writes the source of placeholders in the text */
  hover(text: string, offset: number, settings: MessageSettings, written: (text: string) => string): Hover | null;
  complete(text: string, offset: number, settings: MessageSettings, seen: SeenWords): Completion | null;
  outline(text: string): Outline;
  words(text: string): MessageWords;
}
