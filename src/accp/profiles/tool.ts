/** TC: calls of tools (draft-benzing-accp-00, section 10.2). */
import { nearest } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import { isPlainMap, type Json, Reference, sealDefinition } from '../message/json.js';
import { errorPayload } from './error.js';
import {
  type KnownRequest,
  member,
  type Profile,
  type ProfileContext,
  type ProfileMessage,
  requireCorrelation,
  requireText,
  type Tools,
  violation,
} from './profile.js';

export const TOOL: Profile = {
  code: 'TC',
  name: 'Tool / MCP',
  schemaName: 'tool_call',
  schema: sealDefinition({
    code: 'TC',
    version: 1,
    fields: ['tool_name', 'arguments', 'result', 'status', 'error_code'],
    defaults: { status: 'ok' },
    types: { tool_name: 'string', arguments: 'map', result: 'any', status: 'string', error_code: 'string' },
    operations: ['tool'],
  }),
  check: checkTool,
};

const USE_ER = 'send "fail:error" with the schema ER and the code E4002';

function checkTool(message: ProfileMessage, context: ProfileContext): void {
  const { intent, schema } = message;
  if (schema === 'TC') {
    if (intent === 'req' || intent === 'qry') checkCall(message, context);
    else if (intent === 'done' || intent === 'fail') checkResult(message, context);
  } else if (intent === 'fail' && context.request?.schema === 'TC') checkFailure(message, context);
}

function checkCall(message: ProfileMessage, { direction, tools }: ProfileContext): void {
  const name = requireText(message, 'tool_name', 'A tool call must name the tool (section 10.2).');
  const args = member(message, 'arguments') ?? {};
  if (!isPlainMap(args) && !(args instanceof Reference)) {
    throw violation('payload.arguments', 'The arguments of a tool must be a map.');
  }
  if (direction === 'receive' && tools !== undefined) checkArguments(name, args as { [key: string]: Json }, tools);
}

function checkArguments(name: string, args: { readonly [key: string]: Json }, tools: Tools): void {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) {
    const meant = nearest(name, Object.keys(tools));
    const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
    throw violation('payload.tool_name', `Unknown tool ${quotedShort(name)}.`, help, 'E4001');
  }
  const fault = tool.check(args);
  if (fault !== null) throw violation('payload.arguments', fault, undefined, 'E4003');
}

/** The statuses of results that report a failure... */
const FAILURES: ReadonlySet<string> = new Set(['error', 'failed', 'fail']);
/** ...if the result has no other members than these. */
const CALL_MEMBERS: ReadonlySet<string> = new Set(['tool_name', 'arguments', 'status', 'error_code', 'message']);

/** A result with more members than a status is a success: a tool may report failures, such as those of tests, as its result. */
function reportsFailure({ payload }: ProfileMessage, status: string): boolean {
  if (!FAILURES.has(status)) return false;
  if (status === 'error') return true;
  return Object.keys(payload).every((key) => CALL_MEMBERS.has(key) || payload[key] === null);
}

function checkResult(message: ProfileMessage, { direction, warn }: ProfileContext): void {
  requireCorrelation(message, 'The result of a tool must have the correlation_id of its request (section 10.2).');
  if (message.intent === 'fail') {
    throw violation('schema', 'A tool error must have the schema ER instead of TC (section 10.2).', USE_ER);
  }
  const code = member(message, 'error_code');
  // A tool's own codes are results; those of the protocol are failures.
  if (typeof code === 'string' && /^E[0-9]{4}$/.test(code)) {
    throw violation('payload.error_code', 'A tool error must have the schema ER (section 10.2).', USE_ER);
  }
  const status = member(message, 'status');
  if (typeof status !== 'string' || !reportsFailure(message, status.toLowerCase())) return;
  const why = `A result with the status ${quotedShort(status)} is a tool error, which must have the schema ER (section 10.2).`;
  if (direction === 'send') throw violation('payload.status', why, USE_ER);
  warn('tool-status', why, 'payload.status');
}

const TOOL_CODES: ReadonlySet<string> = new Set(['E4001', 'E4002', 'E4003']);

/** Tool errors have a tool code (Table 6), or one of another range if the call did not reach the tool; E9999 is too unspecific. */
function checkFailure(message: ProfileMessage, { direction }: ProfileContext): void {
  if (message.operation !== 'error' || message.schema !== 'ER') {
    throw violation('schema', 'A tool error must be an error frame of the schema ER (section 10.2).', USE_ER);
  }
  const code = member(message, 'code');
  if (typeof code === 'string' && code.startsWith('E9')) {
    throw violation('payload.code', `A tool error must have the code E4002; got ${code} (section 10.2).`, USE_ER);
  }
  // Peers may use codes that Table 6 lacks.
  if (direction === 'send' && typeof code === 'string' && code.startsWith('E4') && !TOOL_CODES.has(code)) {
    throw violation('payload.code', `${quotedShort(code)} is not a code of tool errors in Table 6.`, USE_ER);
  }
}

/** Returns the code of an error that a handler threw: E4002 for a tool call (section 10.2), otherwise E9999. */
export function handlerErrorCode(request: KnownRequest | undefined): 'E4002' | 'E9999' {
  return request?.schema === 'TC' ? 'E4002' : 'E9999';
}

/**
 * Creates the payload of the error frame of a failed tool (E4002).
 *
 * @param thrown the error of the tool; if it is an Error, its message is sent to the caller
 */
export function toolErrorPayload(name: string, thrown: unknown): { readonly [key: string]: Json } {
  const why = thrown instanceof Error && thrown.message !== '' ? `: ${thrown.message}` : '.';
  return errorPayload('E4002', `The tool ${quotedShort(name)} failed${why}`, { tool_name: name });
}
