import type { Identifier, Pattern, VariableDeclaration } from 'acorn';
import { children, isFunction, type Node } from './nodes.js';

/** What brought a name into scope. */
export type BindingKind = VariableDeclaration['kind'] | 'function' | 'class' | 'parameter' | 'catch' | 'import';

export type Declare = (identifier: Identifier, kind: BindingKind) => void;

/** Declares the names that a list of statements binds in its own block: everything but `var`. */
export function declareLexical(statements: readonly Node[], declare: Declare): void {
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

/** Declares the `var` names anywhere below a node, functions within it left out. */
export function declareHoisted(node: Node, declare: Declare): void {
  if (node.type === 'VariableDeclaration' && node.kind === 'var') declareVariables(node, declare);
  for (const child of children(node)) {
    if (!isFunction(child) && child.type !== 'StaticBlock' && child.type !== 'PropertyDefinition') {
      declareHoisted(child, declare);
    }
  }
}

export function declareVariables(declaration: VariableDeclaration, declare: Declare): void {
  for (const { id } of declaration.declarations) declarePattern(id, declaration.kind, declare);
}

/** Declares every name of a pattern, as in `{ a, b: [c = 1, ...d] }`. */
export function declarePattern(pattern: Pattern, kind: BindingKind, declare: Declare): void {
  switch (pattern.type) {
    case 'Identifier':
      declare(pattern, kind);
      return;
    case 'ArrayPattern':
      for (const element of pattern.elements) if (element) declarePattern(element, kind, declare);
      return;
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        declarePattern(property.type === 'Property' ? property.value : property.argument, kind, declare);
      }
      return;
    case 'AssignmentPattern':
      declarePattern(pattern.left, kind, declare);
      return;
    case 'RestElement':
      declarePattern(pattern.argument, kind, declare);
      return;
    case 'MemberExpression':
      return;
  }
}
