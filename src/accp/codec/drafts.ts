/** The frames of a message, within the limits of tokens (draft-benzing-accp-00, sections 3.4 and 7.2, item 6). */
import type { Frame } from '../ast.js';
import type { CompactBody } from '../session/compaction.js';
import { metadataText, type Part } from '../session/envelope.js';
import { MAX_CHARACTERS, splitParams, tooLong } from '../session/sequence.js';
import { bodyText } from './sender.js';
import { type Encoding, paramsOf } from './write-payload.js';

export interface Draft {
  /** Header and body, in plain form. */
  readonly text: string;
  readonly part: Part | undefined;
  /** Header and body as sent, if the tables have learned from them already. */
  readonly compact: CompactBody | undefined;
}

/** The frames of a message, without metadata. */
export interface Drafts {
  readonly drafts: readonly Draft[];
  /** The number of tokens of the plain text of the only draft; `undefined` if it was not counted, or if there are several. */
  readonly tokens: number | undefined;
  /** The number of tokens of header and body as sent, if they were counted. */
  readonly sent: number | undefined;
  /** The number of tokens of its body as sent. */
  readonly body: number | undefined;
}

export function withinBudget(whole: string, encoding: Encoding): Drafts {
  const { session, message } = encoding;
  const { agent, intent, operation } = message;
  const { limits, counter } = session.settings;
  if (whole.length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  const { params: payload } = encoding;
  const tree: Frame | undefined = payload && { kind: 'frame', agent, intent, operation, payload, metadata: null };
  const compact = session.sender.shorten(agent, whole, { tree });
  const sent = compact.body;
  // A token has at least one character.
  if (sent.length <= limits.body.hard && sent.length + METADATA_LENGTH <= limits.total.hard) {
    const known = session.frameTokens.whole(sent, message, compact.tokens);
    return single(whole, compact, { tokens: compact.plainTokens ?? known, sent: known, body: undefined });
  }
  const tokens = compact.tokens ?? counter.count(sent);
  const known = session.frameTokens.whole(sent, message, tokens);
  const body = session.frameTokens.body(sent, message, known);
  const plainTokens = compact.plainTokens ?? tokens;
  const counts = { tokens: plainTokens, sent: known, body };
  if (body <= limits.body.hard && tokens <= limits.total.hard) {
    const metadata = sampleMetadata(encoding);
    const fits = tokens + metadata.length <= limits.total.hard;
    if (fits || tokens + counter.count(metadata) <= limits.total.hard) return single(whole, compact, counts);
  }
  const most = mostTokens(encoding);
  const { owners } = session.compaction;
  // Compact frames have room for more than plain ones if their pieces are about as short as the whole, and for less if they have marks.
  const ratio = tokens / plainTokens;
  let share = ratio > 1 ? COMPACT_SLACK * ratio : Math.min(1, COMPACT_SLACK * ratio);
  let drafts = split(encoding, most, share);
  if (drafts.length === 1) return single(whole, compact, counts);
  owners.rollBack();
  const allFit = (): boolean => {
    const isEach = drafts.every(({ text }) => {
      return session.frameTokens.body(session.sender.shorten(agent, text, { isPart: true }).body, message) <= most;
    });
    owners.rollBack();
    return isEach;
  };
  for (let attempt = 0; attempt < MAX_SPLITS && ratio !== 1 && !allFit(); attempt++) {
    share = share < 1 ? 1 : COMPACT_SLACK * share;
    drafts = split(encoding, most, share);
  }
  const around = sampleMetadata(encoding, drafts.at(-1)!.part).length + LONGEST_NUMBERS;
  const length = drafts.reduce((sum, { text }) => sum + text.length + around, 0);
  if (length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  return { drafts, tokens: undefined, sent: undefined, body: undefined };
}

/**
 * @param most the maximum number of tokens of a body
 * @param share the number of tokens of a parameter as sent, divided by those of the plain one
 */
function split(encoding: Encoding, most: number, share: number): Draft[] {
  const { agent, intent, operation } = encoding.message;
  const { counter } = encoding.session.settings;
  const room = Math.max(MIN_ROOM, most - counter.count(`:${operation}{}`) - BODY_SLACK);
  const pieces = splitParams(paramsOf(encoding), room, (param) => {
    return Math.ceil(share * (counter.count(bodyText('a', 'a', 'a', [param])) - PARAM_FRAME));
  });
  return pieces.map(({ params, cut }, index) => ({
    text: bodyText(agent, intent, operation, params),
    part: { index, total: pieces.length, cut },
    compact: undefined,
  }));
}

function single(text: string, compact: CompactBody, counts: Omit<Drafts, 'drafts'>): Drafts {
  return { drafts: [{ text, part: undefined, compact }], ...counts };
}

/** The number of characters of a metadata block with identifiers of usual length. */
const METADATA_LENGTH = 96;
/** An identifier of usual length. */
const SAMPLE_ID = 'a12345678901';
/** The number of characters by which a metadata block may exceed its sample: number and cut. */
const LONGEST_NUMBERS = 32;
/** The number of tokens of `@a>a:a{}`, less one for the bar between parameters. */
const PARAM_FRAME = 5;
/** The number of tokens that counting in pieces may miss. */
const BODY_SLACK = 6;
/** By how much pieces of a compact frame may be longer than the whole, in proportion. */
const COMPACT_SLACK = 1.15;
/** The maximum number of further attempts to split a message into compact frames. */
const MAX_SPLITS = 4;
/** The minimum number of tokens of payload in one frame, however low the limits are. */
const MIN_ROOM = 16;

function sampleMetadata({ message, session }: Encoding, part?: Part): string {
  const { agent, envelope } = message;
  return metadataText({
    mid: envelope.msg_id ?? SAMPLE_ID,
    seq: session.delivery.nextToSend(agent),
    ts: envelope.timestamp,
    // Parts have the identifier of the first one.
    cid: envelope.correlation_id ?? (part && SAMPLE_ID),
    aid: envelope.causation_id,
    sid: envelope.session_id ?? session.options.id,
    ttl: envelope.ttl,
    part,
  });
}

/** Returns the maximum number of tokens of the body of a part. */
function mostTokens(encoding: Encoding): number {
  const { session, message } = encoding;
  const { limits, counter } = session.settings;
  const sample = sampleMetadata(encoding, { index: 99, total: 99, cut: 1 });
  const around = session.frameTokens.header(message) + counter.count(sample);
  return Math.min(limits.body.hard, limits.total.hard - around);
}
