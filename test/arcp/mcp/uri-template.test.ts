import { describe, expect, test } from 'vitest';
import { expand, variablesOf } from '../../../src/arcp/mcp/uri-template.js';

/** The variables of the examples of RFC 6570, section 3.2. */
const VALUES = {
  count: ['one', 'two', 'three'],
  var: 'value',
  hello: 'Hello World!',
  path: '/foo/bar',
  x: '1024',
  y: 768,
  empty: '',
  who: 'fred',
  half: '50%',
  base: 'http://example.com/home/',
  list: ['red', 'green', 'blue'],
  none: [],
  v: 6,
};

describe('URI templates expand as in RFC 6570', () => {
  test.each([
    // 3.2.2
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['{x,y}', '1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['?{x,empty}', '?1024,'],
    ['?{undef,y}', '?768'],
    ['{var:3}', 'val'],
    ['{var:30}', 'value'],
    ['{list}', 'red,green,blue'],
    ['{list*}', 'red,green,blue'],
    // 3.2.3
    ['{+var}', 'value'],
    ['{+hello}', 'Hello%20World!'],
    ['{+half}', '50%25'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['{+path}/here', '/foo/bar/here'],
    ['{+path:6}/here', '/foo/b/here'],
    ['{+list}', 'red,green,blue'],
    // 3.2.4
    ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'],
    ['foo{#empty}', 'foo#'],
    ['foo{#undef}', 'foo'],
    // 3.2.5
    ['{.who,who}', '.fred.fred'],
    ['X{.list*}', 'X.red.green.blue'],
    ['X{.empty}', 'X.'],
    // 3.2.6
    ['{/var,x}/here', '/value/1024/here'],
    ['{/list}', '/red,green,blue'],
    ['{/list*}', '/red/green/blue'],
    ['{/var:1,var}', '/v/value'],
    // 3.2.7
    ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;list*}', ';list=red;list=green;list=blue'],
    // 3.2.8
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['{?x,y,undef}', '?x=1024&y=768'],
    ['{?list}', '?list=red,green,blue'],
    ['{?list*}', '?list=red&list=green&list=blue'],
    ['{?none}', ''],
    // 3.2.9
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{&var:3}', '&var=val'],
  ])('%s: %s', (template, expanded) => {
    expect(expand(template, VALUES)).toBe(expanded);
  });
});

test('values may be any text', () => {
  expect(expand('{a}{+a}', { a: '\ud800é😀' })).toBe('%EF%BF%BD%C3%A9%F0%9F%98%80'.repeat(2));
});

test('other values are refused', () => {
  expect(() => expand('{a}', { a: { b: 1 } })).toThrow('a must be a text');
  expect(() => expand('{a}', { a: [[1]] })).toThrow('a must be a text');
});

test('variables are listed once; those of a query or fragment are optional', () => {
  expect(variablesOf('x://{a}/{+b:3,c*}{?d,a}{&e}{#f}')).toEqual([
    { name: 'a', isRequired: true },
    { name: 'b', isRequired: true },
    { name: 'c', isRequired: true },
    { name: 'd', isRequired: false },
    { name: 'e', isRequired: false },
    { name: 'f', isRequired: false },
  ]);
});
