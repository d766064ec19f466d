/** The filter of the timeline: words that all must match. */
import type { Message } from './message.js';

/** Decides whether a message is shown. */
export type Filter = (message: Message) => boolean;

/** The names before a colon. */
const FIELDS = ['type', 'session', 'side', 'id', 'language', 'is'] as const;

/**
 * Reads a filter. Words are searched in the text of the message, without regard to case; `"two words"` is one; `-word` excludes. `type:job.*`,
 * `session:c1`, `side:client`, `id:job_1`, `language:accp` and `is:error` compare a property; `*` stands for any characters.
 */
export function parseFilter(query: string): Filter {
  const tests = [...query.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/gi)].map(
    ([whole, minus, field = '', quoted, plain]): Filter => {
      const value = quoted ?? plain ?? '';
      const isField = (FIELDS as readonly string[]).includes(field.toLowerCase());
      const test = isField
        ? fieldTest(field.toLowerCase() as (typeof FIELDS)[number], value)
        : textTest(quoted === undefined ? whole.slice(minus!.length) : `${field === '' ? '' : `${field}:`}${value}`);
      return minus === '' ? test : (message) => !test(message);
    },
  );
  return (message) => tests.every((test) => test(message));
}

function textTest(word: string): Filter {
  const pattern = new RegExp(literal(word), 'i');
  return ({ record, type, what }) => pattern.test(type) || pattern.test(what) || pattern.test(record.text);
}

function fieldTest(field: (typeof FIELDS)[number], value: string): Filter {
  const pattern = new RegExp(`^${value.split('*').map(literal).join('.*')}$`, 'is');
  const matches = (text: string): boolean => pattern.test(text);
  switch (field) {
    case 'type':
      return ({ type }) => matches(type);
    case 'session':
      return ({ record, ids }) => matches(record.session) || matches(ids['session_id'] ?? ids['sid'] ?? '');
    case 'side':
      return ({ record }) => matches(record.side);
    case 'language':
      return ({ language }) => matches(language);
    case 'id':
      return ({ ids }) => Object.values(ids).some(matches);
    case 'is':
      return (message) => (value === 'error' ? isError(message) : value === 'own' && message.record.isOwn === true);
  }
}

/** Returns whether a message is invalid, or reports a failure. */
export function isError({ error, tone }: Message): boolean {
  return error !== undefined || tone === 'failure';
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Returns a filter for one property, quoted if necessary. */
export function filterTerm(field: (typeof FIELDS)[number], value: string): string {
  return /^[^\s"*]+$/.test(value) ? `${field}:${value}` : `${field}:"${value.replace(/"/g, '*')}"`;
}
