/** ST: results in chunks (draft-benzing-accp-00, section 10.4). Buffering and order are the business of `streams/`. */
import { sealDefinition } from '../message/schema-definition.js';
import { broken, member, type Profile, type ProfileMessage, requireCorrelation } from './profile.js';

export const STREAMING: Profile = {
  code: 'ST',
  name: 'Streaming',
  schemaName: 'stream_chunk',
  schema: sealDefinition({
    code: 'ST',
    version: 1,
    fields: ['chunk_index', 'total_chunks', 'data', 'is_final'],
    defaults: { is_final: false },
    // Chunks hold any data: text in the examples, parts of artifacts in section 11.4.
    types: { chunk_index: 'integer', total_chunks: 'integer', data: 'any', is_final: 'boolean' },
  }),
  check: checkStreaming,
};

function checkStreaming(message: ProfileMessage): void {
  const { intent, schema } = message;
  if (intent === 'stream' || intent === 'end' || schema === 'ST') {
    requireCorrelation(message, 'All frames of a stream share one correlation_id (section 10.4).');
  }
  if (schema === 'ST') checkChunk(message);
}

function checkChunk(message: ProfileMessage): void {
  const index = member(message, 'chunk_index');
  const total = member(message, 'total_chunks');
  const isFinal = member(message, 'is_final');
  // What ends a stream need not be a chunk; but data without an index would have no place.
  if (index === undefined && (message.intent === 'stream' || hasData(message))) {
    throw broken('payload.chunk_index', 'A chunk needs its index: a whole number from 0 on.');
  }
  if (index !== undefined && !isCount(index, 0)) {
    throw broken('payload.chunk_index', 'The index of a chunk is a whole number from 0 on.');
  }
  if (total !== undefined && !isCount(total, 1)) {
    throw broken('payload.total_chunks', 'The number of chunks is a whole number from 1 on.');
  }
  if (isFinal !== undefined && typeof isFinal !== 'boolean') {
    throw broken('payload.is_final', 'Whether a chunk is the final one is true or false.');
  }
  if (index === undefined || total === undefined) return;
  if (index >= total) {
    throw broken('payload.chunk_index', `The indexes of ${total} chunks end at ${total - 1}; this one is ${index}.`);
  }
  if ((index === total - 1) !== (isFinal ?? false)) {
    throw broken('payload.is_final', 'The final chunk, and no other, has is_final=true (section 10.4).');
  }
}

function hasData(message: ProfileMessage): boolean {
  return message.intent === 'end' && member(message, 'data') !== undefined;
}

function isCount(value: unknown, from: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= from;
}
