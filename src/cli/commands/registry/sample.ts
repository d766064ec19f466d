/** The messages of a sample: JSON or plain frames, one per line. */
import type { Frame } from '../../../accp/ast.js';
import { readPayload } from '../../../accp/codec/read-payload.js';
import { frameOf } from '../../../accp/compact/frame-of.js';
import { compactFrame } from '../../../accp/compact/index.js';
import { accpError } from '../../../accp/errors.js';
import { Reference } from '../../../accp/message/json.js';
import type { MessageInput } from '../../../accp/message/message.js';
import { parseFrame } from '../../../accp/parse.js';
import { printFrame } from '../../../accp/print.js';
import { chatMessage } from '../../../accp/profiles/profiles.js';
import { COMMON_REGISTRY } from '../../../accp/registry/registry.js';
import { PegwireError } from '../../../text/errors.js';
import { notJson } from '../../io/exact-json.js';
import type { Line } from '../../io/input.js';
import { type Reporting, reject } from '../../io/report.js';
import { readMessage } from '../../session/message-input.js';

/** A message, without envelope, and its frame, without metadata. */
export interface SampleMessage {
  readonly message: MessageInput;
  readonly frame: Frame;
}

/** Reads a line. @returns `null` if it is rejected, after reporting the error */
export async function readSample(reporter: Reporting, line: Line): Promise<SampleMessage | null> {
  try {
    return checked(line.text.startsWith('@') ? ofFrame(line.text) : ofJson(line.text));
  } catch (thrown) {
    if (!(thrown instanceof PegwireError)) throw thrown;
    await reject(reporter, line, thrown);
    return null;
  }
}

function ofFrame(text: string): SampleMessage {
  const frame: Frame = { ...parseFrame(text), metadata: null };
  const { agent, intent, operation, payload: params } = frame;
  const last = params.find(({ key }) => key === 'schema')?.value;
  const code = last?.kind === 'string' ? last.value : undefined;
  const schema = code === undefined ? undefined : COMMON_REGISTRY.byCode(code);
  const rules = { code, schema, types: schema?.types, transliterated: true };
  const { payload } = readPayload(params, rules, (path) => new Reference(path));
  return { message: { agent, intent, operation, ...(code === undefined ? {} : { schema: code }), payload }, frame };
}

function ofJson(text: string): SampleMessage {
  const read = messageIn(text);
  const { envelope: _, ...message } = typeof read === 'string' ? chatMessage(read) : read;
  return { message, frame: frameOf(message, COMMON_REGISTRY) };
}

function messageIn(text: string): MessageInput | string {
  try {
    return readMessage(text, { refs: false, keepEnvelope: false }).message;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const help =
      'write one message per line, for example {"intent":"req","operation":"find","payload":{"query":"cats"}}';
    throw notJson(thrown, text, help);
  }
}

/** @throws PegwireError if the frame has no plain or no compact form */
function checked(sample: SampleMessage): SampleMessage {
  const { frame } = sample;
  printFrame(frame);
  if (/^[0-9]+$/.test(frame.agent))
    throw accpError('E1004', 'agent', 'must not be a number, since registries number agents');
  compactFrame(frame, { registry: COMMON_REGISTRY });
  return sample;
}
