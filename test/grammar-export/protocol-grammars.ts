/** The expected exports of ACCP and AACP, written by hand: their strict dialects without counts and repeated keys. */
import { all, any, grammar, listOf, many, maybe, rule, set, some } from './build.js';

const safe = set('!#', '%+', '-9', ';=', '??', 'AZ', '^z');
const word = set('09', 'AZ', 'az', '__');

export const frames = grammar(
  {
    frame: all(
      ...['@', rule('agent_id'), '>', rule('intent'), ':', rule('operation'), '{', maybe(rule('payload')), '}'],
      maybe(rule('metadata')),
    ),
    metadata: all('[', listOf(rule('param'), ','), ']'),
    payload: listOf(rule('param'), '|'),
    param: all(rule('key'), ':', rule('value')),
    value: any(rule('array'), rule('map'), rule('ref'), rule('null'), rule('typed_literal')),
    array: all('[', maybe(listOf(rule('value'), ',')), ']'),
    map: all('{', maybe(listOf(rule('param'), ',')), '}'),
    ref: all('$', rule('ref_key')),
    null: '~',
    typed_literal: any(rule('boolean'), rule('number'), rule('string')),
    boolean: any('true', 'false'),
    number: all(maybe('-'), some(set('09')), maybe(all('.', some(set('09'))))),
    string: any(all(rule('safe_chars'), maybe(rule('escapes'))), rule('escapes')),
    escapes: some(all(rule('escaped_char'), maybe(rule('safe_chars')))),
    safe_chars: some(safe),
    escaped_char: all('\\', rule('delimiter')),
    delimiter: set('@', '>', ':', '{', '}', '[', ']', '|', '$', ',', '~', '\\'),
    agent_id: some(set('--', '09', 'AZ', 'az', '__')),
    intent: some(set('AZ', 'az')),
    operation: some(word),
    key: some(word),
    ref_key: some(set('..', '09', 'AZ', 'az', '__')),
  },
  [{ code: 'predicate', rule: 'payload', message: 'Repeated keys are not detected.' }],
  'accp',
);

const textCharacter = set('!{', '}~', '\u0080\u{10ffff}');

export const packets = grammar(
  {
    packet: all(rule('task'), '|', rule('dom'), many(all('|', rule('field')))),
    task: all(set('AZ'), many(set('--', '09', 'AZ', '__'))),
    dom: all(set('AZ'), many(set('--', '09', 'AZ', '__'))),
    field: all(rule('key'), ':', rule('value')),
    key: all(set('az'), many(set('09', 'az', '__'))),
    value: maybe(all(some(textCharacter), many(all(some(set('  ')), some(textCharacter))))),
  },
  [],
  'aacp',
);
