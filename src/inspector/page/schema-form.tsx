/** Forms made from JSON Schemas. What a schema does not describe is entered as JSON. */
import { useState } from 'preact/hooks';
import { type Members, members } from './message.js';

interface SchemaFormProps {
  readonly legend: string;
  readonly schema: Members;
  /** The schema that contains the definitions. @default `schema` */
  readonly root?: Members | undefined;
  readonly value: Members;
  readonly onChange: (value: Members) => void;
  /** If true, the form is closed at first. */
  readonly isFolded?: boolean | undefined;
}

const MAX_DEPTH = 4;

export function SchemaForm({ legend, schema, root = schema, value, onChange, isFolded }: SchemaFormProps) {
  const properties = members(resolve(schema, root)['properties']);
  const required = requiredOf(resolve(schema, root));
  const names = Object.keys(properties).sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
  if (names.length === 0) return null;
  return (
    <details open={isFolded !== true}>
      <summary>{legend}</summary>
      <fieldset>
        <legend class="hidden-text">{legend}</legend>
        {names.map((name) => (
          <Field
            key={name}
            name={name}
            isRequired={required.has(name)}
            schema={members(properties[name])}
            root={root}
            value={value[name]}
            depth={0}
            onChange={(next) => onChange(withMember(value, name, next))}
          />
        ))}
      </fieldset>
    </details>
  );
}

interface FieldProps {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Members;
  readonly root: Members;
  readonly value: unknown;
  readonly depth: number;
  readonly onChange: (value: unknown) => void;
}

function Field({ name, isRequired, schema: given, root, value, depth, onChange }: FieldProps) {
  const schema = resolve(given, root);
  const choices = choicesOf(schema, root);
  const title = `${name}${isRequired ? ' *' : ''}`;
  const requirement = { 'aria-required': isRequired, 'aria-invalid': isRequired && value === undefined };
  if (choices !== undefined)
    return (
      <label>
        {title}
        <select
          {...requirement}
          value={value === undefined ? '' : JSON.stringify(value)}
          onChange={(event) =>
            onChange(event.currentTarget.value === '' ? undefined : JSON.parse(event.currentTarget.value))
          }
        >
          <option value="">(none)</option>
          {choices.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      </label>
    );
  switch (schema['type']) {
    case 'boolean':
      return (
        <label>
          {title}
          <select
            {...requirement}
            value={value === undefined ? '' : String(value)}
            onChange={(event) =>
              onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value === 'true')
            }
          >
            <option value="">(none)</option>
            <option>true</option>
            <option>false</option>
          </select>
        </label>
      );
    case 'string':
      return (
        <label>
          {title}
          <input
            {...requirement}
            value={typeof value === 'string' ? value : ''}
            placeholder={String(schema['format'] ?? '')}
            onInput={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
          />
        </label>
      );
    case 'number':
    case 'integer':
      return (
        <label>
          {title}
          <input
            {...requirement}
            type="number"
            step={schema['type'] === 'integer' ? 1 : 'any'}
            value={typeof value === 'number' ? value : ''}
            onInput={(event) => {
              const { valueAsNumber } = event.currentTarget;
              onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber);
            }}
          />
        </label>
      );
    case 'object': {
      const properties = members(schema['properties']);
      const names = Object.keys(properties);
      if (names.length === 0 || depth >= MAX_DEPTH) break;
      const required = requiredOf(schema);
      return (
        <details open={isRequired}>
          <summary>{title}</summary>
          <fieldset>
            <legend class="hidden-text">{name}</legend>
            {names.map((inner) => (
              <Field
                key={inner}
                name={inner}
                isRequired={required.has(inner)}
                schema={members(properties[inner])}
                root={root}
                value={members(value)[inner]}
                depth={depth + 1}
                onChange={(next) => onChange(emptyAsNone(withMember(members(value), inner, next), isRequired))}
              />
            ))}
          </fieldset>
        </details>
      );
    }
  }
  return <JsonField title={title} isRequired={isRequired} value={value} onChange={onChange} />;
}

function JsonField({
  title,
  isRequired,
  value,
  onChange,
}: {
  readonly title: string;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value)));
  const [isInvalid, setInvalid] = useState(false);
  return (
    <label>
      {title} (JSON)
      <textarea
        rows={1}
        spellcheck={false}
        value={text}
        aria-required={isRequired}
        aria-invalid={isInvalid || (isRequired && value === undefined)}
        onInput={(event) => {
          const given = event.currentTarget.value;
          setText(given);
          try {
            onChange(given.trim() === '' ? undefined : JSON.parse(given));
            setInvalid(false);
          } catch {
            setInvalid(true);
          }
        }}
      />
    </label>
  );
}

/** Follows a reference inside the document. */
export function resolve(schema: Members, root: Members): Members {
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/'))
    found = members(found)[step.replace(/~1/g, '/').replace(/~0/g, '~')];
  return members(found);
}

/** Returns the values of a schema that permits only these. */
function choicesOf(schema: Members, root: Members): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'] as unknown[];
  if ('const' in schema) return [schema['const']];
  const options = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(options)) return undefined;
  const all = options.map((option) => choicesOf(resolve(members(option), root), root));
  return all.every((choices) => choices !== undefined) ? all.flat() : undefined;
}

function requiredOf({ required }: Members): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? (required as unknown[]) : []);
}

/** Returns the paths of required members that are absent. */
export function missingIn(value: Members, schema: Members, root: Members = schema): readonly string[] {
  const resolved = resolve(schema, root);
  const properties = members(resolved['properties']);
  return Object.keys(properties).flatMap((name) => {
    if (value[name] === undefined) return requiredOf(resolved).has(name) ? [name] : [];
    const inner = value[name];
    return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? missingIn(inner as Members, members(properties[name]), root).map((path) => `${name}.${path}`)
      : [];
  });
}

function withMember(value: Members, name: string, member: unknown): Members {
  const { [name]: _, ...rest } = value;
  return member === undefined ? rest : { ...value, [name]: member };
}

function emptyAsNone(value: Members, isRequired: boolean): Members | undefined {
  return !isRequired && Object.keys(value).length === 0 ? undefined : value;
}
