/** TC: calls of tools (draft-benzing-accp-00, section 10.2). */
import { nearest } from '../../text/suggest.js';
import { quotedShort } from '../../text/visible.js';
import type { Json } from '../message/json.js';
import { Reference } from '../message/reference.js';
import { isPlainMap } from '../registry/plain.js';
import { sealDefinition } from '../registry/schema-definition.js';
import { errorPayload } from './error.js';
import {
  broken,
  member,
  type Profile,
  type ProfileContext,
  type ProfileMessage,
  type RememberedRequest,
  requireCorrelation,
  requireText,
} from './profile.js';
import type { ToolBook } from './tool-book.js';

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
    else if (intent === 'done' || intent === 'fail') checkResult(message);
  } else if (intent === 'fail' && context.request?.schema === 'TC') checkFailure(message);
}

function checkCall(message: ProfileMessage, { direction, tools }: ProfileContext): void {
  const name = requireText(message, 'tool_name', 'A tool call needs the name of the tool (section 10.2).');
  const args = member(message, 'arguments') ?? {};
  if (!isPlainMap(args) && !(args instanceof Reference)) {
    throw broken('payload.arguments', 'The arguments of a tool are a map.');
  }
  if (direction === 'receive' && tools !== undefined) checkArguments(name, args as { [key: string]: Json }, tools);
}

function checkArguments(name: string, args: { readonly [key: string]: Json }, tools: ToolBook): void {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) {
    const meant = nearest(name, Object.keys(tools));
    const help = meant === undefined ? undefined : `did you mean ${quotedShort(meant)}?`;
    throw broken('payload.tool_name', `There is no tool ${quotedShort(name)}.`, help, 'E4001');
  }
  const fault = tool.check(args);
  if (fault !== null) throw broken('payload.arguments', fault, undefined, 'E4003');
}

function checkResult(message: ProfileMessage): void {
  requireCorrelation(message, 'The result of a tool names its request by correlation_id (section 10.2).');
  if (message.intent === 'fail') {
    throw broken('schema', 'Tool errors have the schema ER, and not TC (section 10.2).', USE_ER);
  }
  const code = member(message, 'error_code');
  // Codes of the tool's own are part of a result; those of the protocol say that there is none.
  if (typeof code === 'string' && /^E[0-9]{4}$/.test(code)) {
    throw broken('payload.error_code', 'A tool error is no result: it has the schema ER (section 10.2).', USE_ER);
  }
}

/**
 * What fails in answer to a tool call: errors of the tool have a code of their range (Table 5). Other ranges tell that the
 * call never came to the tool (not read, refused by policy, out of order); only "internal or unknown" tells nothing that
 * E4002 would not.
 */
function checkFailure(message: ProfileMessage): void {
  if (message.operation !== 'error' || message.schema !== 'ER') {
    throw broken('schema', 'Tool errors are error frames of the schema ER (section 10.2).', USE_ER);
  }
  const code = member(message, 'code');
  if (typeof code === 'string' && code.startsWith('E9')) {
    throw broken('payload.code', `Tool errors have the code E4002, and not ${code} (section 10.2).`, USE_ER);
  }
}

/** The code for a handler that threw: E4002 in answer to a tool call (section 10.2), else E9999. */
export function handlerErrorCode(request: RememberedRequest | undefined): 'E4002' | 'E9999' {
  return request?.schema === 'TC' ? 'E4002' : 'E9999';
}

/**
 * The payload of the error frame of a tool that failed (E4002).
 *
 * @param thrown what it threw; the message of an error is told to the caller, anything else is not
 */
export function toolErrorPayload(name: string, thrown: unknown): { readonly [key: string]: Json } {
  const why = thrown instanceof Error && thrown.message !== '' ? `: ${thrown.message}` : '.';
  return errorPayload('E4002', `The tool ${quotedShort(name)} failed${why}`, { tool_name: name });
}
