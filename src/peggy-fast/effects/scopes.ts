import {
  type CatchClause,
  type Class,
  type Identifier,
  type Options,
  type Pattern,
  type Program,
  parse,
  type VariableDeclaration,
} from 'acorn';
import { children, type FunctionNode, isFunction, type Node } from './syntax.js';

export interface Binding {
  readonly name: string;
  readonly kind: BindingKind;
  readonly identifier: Identifier;
}

export interface Reference {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly shorthand: boolean;
  readonly node: Identifier;
}

export interface Scopes {
  readonly bound: ReadonlyMap<Identifier, Binding>;
  /** References to names that are not declared inside, in source order. */
  readonly free: readonly Reference[];
  /** The declarations of the outermost node. */
  readonly outermost: ReadonlyMap<string, Binding>;
}

interface Scope {
  readonly names: Map<string, Binding>;
  readonly parent: Scope | null;
}

interface Resolver {
  readonly bound: Map<Identifier, Binding>;
  readonly free: Reference[];
}

const known = new WeakMap<Node, Scopes>();

export function resolveScopes(root: Node): Scopes {
  const found = known.get(root);
  if (found !== undefined) return found;
  const scopes = resolved(root);
  known.set(root, scopes);
  return scopes;
}

function resolved(root: Node): Scopes {
  const resolver: Resolver = { bound: new Map(), free: [] };
  const scope = openScope(null);
  const declare = declareIn(scope, resolver);
  declareHoisted(root, declare);
  if (root.type === 'Program' || root.type === 'BlockStatement') {
    declareLexical(root.body, declare);
    for (const statement of root.body) visit(statement, scope, resolver);
  } else visit(root, scope, resolver);
  resolver.free.sort((a, b) => a.start - b.start);
  return { ...resolver, outermost: scope.names };
}

function openScope(parent: Scope | null): Scope {
  return { names: new Map(), parent };
}

function declareIn(scope: Scope, resolver: Resolver): Declare {
  return (identifier, kind) => {
    // `var a` next to a parameter `a`, or twice, is one variable.
    const binding = scope.names.get(identifier.name) ?? { name: identifier.name, kind, identifier };
    scope.names.set(identifier.name, binding);
    resolver.bound.set(identifier, binding);
  };
}

function refer(node: Identifier, shorthand: boolean, scope: Scope, resolver: Resolver): void {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const binding = at.names.get(node.name);
    if (binding) {
      resolver.bound.set(node, binding);
      return;
    }
    if (node.name === 'arguments' && at.names.has(OWN_ARGUMENTS)) return;
  }
  resolver.free.push({ name: node.name, start: node.start, end: node.end, shorthand, node });
}

/** Not a valid identifier. */
const OWN_ARGUMENTS = '(arguments)';

function visit(node: Node, scope: Scope, resolver: Resolver): void {
  if (isFunction(node)) {
    visitFunction(node, scope, resolver);
    return;
  }
  switch (node.type) {
    case 'Identifier':
      refer(node, false, scope, resolver);
      return;
    case 'BlockStatement':
      visitStatements(node.body, openScope(scope), resolver);
      return;
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement': {
      const own = openScope(scope);
      const head = node.type === 'ForStatement' ? node.init : node.left;
      if (head?.type === 'VariableDeclaration' && head.kind !== 'var') declareVariables(head, declareIn(own, resolver));
      visitChildren(node, own, resolver);
      return;
    }
    case 'SwitchStatement': {
      visit(node.discriminant, scope, resolver);
      const own = openScope(scope);
      for (const { consequent } of node.cases) declareLexical(consequent, declareIn(own, resolver));
      for (const branch of node.cases) visitChildren(branch, own, resolver);
      return;
    }
    case 'CatchClause':
      visitCatch(node, scope, resolver);
      return;
    case 'ClassDeclaration':
    case 'ClassExpression':
      visitClass(node, scope, resolver);
      return;
    case 'VariableDeclarator':
      visitDeclared(node.id, scope, resolver);
      if (node.init) visit(node.init, scope, resolver);
      return;
    case 'MemberExpression':
      visit(node.object, scope, resolver);
      if (node.computed) visit(node.property, scope, resolver);
      return;
    case 'Property':
      visitProperty(node, scope, resolver);
      return;
    case 'MethodDefinition':
      if (node.computed) visit(node.key, scope, resolver);
      visit(node.value, scope, resolver);
      return;
    case 'LabeledStatement':
      visit(node.body, scope, resolver);
      return;
    case 'ExportNamedDeclaration':
      if (node.declaration) visit(node.declaration, scope, resolver);
      if (node.source) return;
      for (const { local } of node.specifiers) if (local.type === 'Identifier') refer(local, false, scope, resolver);
      return;
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'MetaProperty':
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return;
    default:
      visitChildren(node, scope, resolver);
      return;
  }
}

function visitChildren(node: Node, scope: Scope, resolver: Resolver): void {
  for (const child of children(node)) visit(child, scope, resolver);
}

function visitStatements(statements: readonly Node[], scope: Scope, resolver: Resolver): void {
  declareLexical(statements, declareIn(scope, resolver));
  for (const statement of statements) visit(statement, scope, resolver);
}

function visitFunction(node: FunctionNode, scope: Scope, resolver: Resolver): void {
  let outer = scope;
  if (node.type === 'FunctionExpression' && node.id) {
    outer = openScope(outer);
    declareIn(outer, resolver)(node.id, 'function');
  }
  const parameters = node.type === 'ArrowFunctionExpression' ? openScope(outer) : ownArguments(outer);
  for (const parameter of node.params) declarePattern(parameter, 'parameter', declareIn(parameters, resolver));
  for (const parameter of node.params) visitDeclared(parameter, parameters, resolver);
  if (node.body.type !== 'BlockStatement') {
    visit(node.body, parameters, resolver);
    return;
  }
  const body = openScope(parameters);
  const declareVar: Declare = (identifier, kind) => {
    const home = parameters.names.has(identifier.name) ? parameters : body;
    declareIn(home, resolver)(identifier, kind);
  };
  declareHoisted(node.body, declareVar);
  visitStatements(node.body.body, body, resolver);
}

function ownArguments(parent: Scope): Scope {
  const scope = openScope(parent);
  scope.names.set(OWN_ARGUMENTS, { name: OWN_ARGUMENTS, kind: 'parameter', identifier: NOWHERE });
  return scope;
}

const NOWHERE: Identifier = { type: 'Identifier', name: OWN_ARGUMENTS, start: 0, end: 0 };

function visitClass(node: Class, scope: Scope, resolver: Resolver): void {
  const own = openScope(scope);
  // Inside a class, its name refers to the class even if the outer variable is reassigned: a second declaration.
  if (node.id) own.names.set(node.id.name, outerBinding(node.id, resolver));
  if (node.superClass) visit(node.superClass, own, resolver);
  for (const member of node.body.body) visit(member, own, resolver);
}

function outerBinding(identifier: Identifier, resolver: Resolver): Binding {
  const binding = resolver.bound.get(identifier) ?? { name: identifier.name, kind: 'class', identifier };
  resolver.bound.set(identifier, binding);
  return binding;
}

function visitCatch(node: CatchClause, scope: Scope, resolver: Resolver): void {
  const own = openScope(scope);
  if (node.param) {
    declarePattern(node.param, 'catch', declareIn(own, resolver));
    visitDeclared(node.param, own, resolver);
  }
  visit(node.body, own, resolver);
}

/** Visits the expressions of a pattern: computed keys and default values. */
function visitDeclared(pattern: Pattern, scope: Scope, resolver: Resolver): void {
  eachOfPattern(pattern, { expression: (node) => visit(node, scope, resolver) });
}

interface PatternVisitor {
  readonly name?: (identifier: Identifier) => void;
  readonly expression?: (node: Node) => void;
}

/** Visits a pattern such as `{ a, b: [c = 1, ...d] }` in source order. */
export function eachOfPattern(pattern: Pattern, visitor: PatternVisitor): void {
  switch (pattern.type) {
    case 'Identifier':
      visitor.name?.(pattern);
      return;
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element) eachOfPattern(element, visitor);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'Property' && property.computed) visitor.expression?.(property.key);
        eachOfPattern(property.type === 'Property' ? property.value : property, visitor);
      }
      return;
    case 'AssignmentPattern':
      eachOfPattern(pattern.left, visitor);
      visitor.expression?.(pattern.right);
      return;
    case 'RestElement':
      eachOfPattern(pattern.argument, visitor);
      return;
    case 'MemberExpression':
      return;
  }
}

function visitProperty(node: Extract<Node, { type: 'Property' }>, scope: Scope, resolver: Resolver): void {
  if (node.computed) visit(node.key, scope, resolver);
  if (!node.shorthand) {
    visit(node.value, scope, resolver);
    return;
  }
  if (node.value.type === 'Identifier') {
    refer(node.value, true, scope, resolver);
    return;
  }
  // `({ a = 1 } = x)`: an assignment pattern.
  if (node.value.type === 'AssignmentPattern') {
    if (node.value.left.type === 'Identifier') refer(node.value.left, true, scope, resolver);
    visit(node.value.right, scope, resolver);
  }
}

type BindingKind = VariableDeclaration['kind'] | 'function' | 'class' | 'parameter' | 'catch' | 'import';

type Declare = (identifier: Identifier, kind: BindingKind) => void;

function declareLexical(statements: readonly Node[], declare: Declare): void {
  for (const statement of statements) {
    if (statement.type === 'VariableDeclaration') {
      if (statement.kind !== 'var') declareVariables(statement, declare);
    } else if (statement.type === 'FunctionDeclaration') {
      if (statement.id) declare(statement.id, 'function');
    } else if (statement.type === 'ClassDeclaration') {
      if (statement.id) declare(statement.id, 'class');
    } else if (statement.type === 'ImportDeclaration') {
      for (const { local } of statement.specifiers) declare(local, 'import');
    } else if (statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration') {
      if (statement.declaration) declareLexical([statement.declaration], declare);
    } else if (statement.type === 'LabeledStatement') {
      declareLexical([statement.body], declare);
    }
  }
}

function declareHoisted(node: Node, declare: Declare): void {
  if (node.type === 'VariableDeclaration' && node.kind === 'var') declareVariables(node, declare);
  for (const child of children(node)) {
    if (!isFunction(child)) declareHoisted(child, declare);
  }
}

function declareVariables(declaration: VariableDeclaration, declare: Declare): void {
  for (const { id } of declaration.declarations) declarePattern(id, declaration.kind, declare);
}

function declarePattern(pattern: Pattern, kind: BindingKind, declare: Declare): void {
  eachOfPattern(pattern, { name: (identifier) => declare(identifier, kind) });
}

/**
 * Parses the code between the braces of an action, a predicate or a per-parse initializer.
 *
 * @throws SyntaxError with `pos`
 */
export function parseBody(code: string): Program {
  return parseAs(code, { sourceType: 'script', allowReturnOutsideFunction: true });
}

export function parseModule(code: string): Program {
  // Sloppy code runs only in parsers of the format "commonjs", which cannot import.
  try {
    return parseAs(code, { sourceType: 'module', allowAwaitOutsideFunction: false });
  } catch (error) {
    try {
      return parseAs(code, { sourceType: 'script' });
    } catch {
      throw error;
    }
  }
}

/** The references in a node to names that are declared outside of it, in source order. */
export function freeReferences(node: Node): readonly Reference[] {
  return resolveScopes(node).free;
}

function parseAs(code: string, options: Omit<Options, 'ecmaVersion'>): Program {
  return parse(code, {
    ...options,
    ecmaVersion: 'latest',
    allowHashBang: false,
    onComment: (isBlock, _text, start) => {
      // Scripts read `<!--` and `-->` as comments, modules do not, so the meaning of the code would depend on the
      // format.
      if (isBlock || code.startsWith('//', start)) return;
      throw Object.assign(new SyntaxError(`HTML-like comment (${start})`), { pos: start });
    },
  });
}
