/** Forms made from JSON Schemas. What a schema does not describe is entered as JSON. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
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
            isChecked
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
  /** True if the field must have a value where it is required: the object that contains it is a part of the message. */
  readonly isChecked: boolean;
  readonly onChange: (value: unknown) => void;
}

function Field({ name, isRequired, schema: given, root, value, depth, isChecked, onChange }: FieldProps) {
  const schema = resolve(given, root);
  const choices = choicesOf(schema, root);
  const title = `${name}${isRequired ? ' *' : ''}`;
  const control = { title, isRequired: isRequired && isChecked };
  if (choices !== undefined)
    return (
      <Control {...control}>
        {(checks) => (
          <select
            {...checks}
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
        )}
      </Control>
    );
  switch (schema['type']) {
    case 'boolean':
      return (
        <Control {...control}>
          {(checks) => (
            <select
              {...checks}
              value={value === undefined ? '' : String(value)}
              onChange={(event) =>
                onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value === 'true')
              }
            >
              <option value="">(none)</option>
              <option>true</option>
              <option>false</option>
            </select>
          )}
        </Control>
      );
    case 'string':
      return (
        <Control {...control}>
          {(checks) => (
            <input
              {...checks}
              value={typeof value === 'string' ? value : ''}
              placeholder={String(schema['format'] ?? '')}
              onInput={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value)}
            />
          )}
        </Control>
      );
    case 'number':
    case 'integer':
      return (
        <Control {...control}>
          {(checks) => (
            <input
              {...checks}
              type="number"
              step={schema['type'] === 'integer' ? 1 : 'any'}
              value={typeof value === 'number' ? value : ''}
              onInput={(event) => {
                const { valueAsNumber } = event.currentTarget;
                onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber);
              }}
            />
          )}
        </Control>
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
                isChecked={isChecked && (isRequired || value !== undefined)}
                onChange={(next) => onChange(emptyAsNone(withMember(members(value), inner, next), isRequired))}
              />
            ))}
          </fieldset>
        </details>
      );
    }
  }
  return <JsonField {...control} value={value} onChange={onChange} />;
}

interface ControlProps {
  readonly title: string;
  readonly isRequired: boolean;
}

/** The attributes of a control that is checked before a message is sent. */
interface Checks {
  readonly id: string;
  readonly required: boolean;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
  readonly onInvalid: (event: Event & { readonly currentTarget: Checked }) => void;
}

type Checked = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Labels a control. An error of its text is shown beside it at once, and that it is empty when a message is to be sent. */
function Control({
  title,
  isRequired,
  children,
}: ControlProps & { readonly children: (checks: Checks) => ComponentChildren }) {
  const [fault, setFault] = useState('');
  const id = useId();
  const onInvalid: Checks['onInvalid'] = (event) => {
    // Replaces the bubble of the browser.
    event.preventDefault();
    const { currentTarget: control } = event;
    setFault(faultOf(control));
    for (let at = control.closest('details'); at; at = at.parentElement!.closest('details')) at.open = true;
    if (control.form!.querySelector(':is(input, select, textarea):invalid') === control) control.focus();
  };
  const onInput = ({ target }: Event): void => {
    const control = target as Checked;
    if (fault !== '' || control.validity.customError) setFault(faultOf(control));
  };
  return (
    <div class="field" onInput={onInput}>
      <label for={id}>{title}</label>
      {children({
        id,
        required: isRequired,
        'aria-invalid': fault !== '',
        'aria-describedby': `${id}-error`,
        onInvalid,
      })}
      <p class="error" id={`${id}-error`}>
        {fault}
      </p>
    </div>
  );
}

/** Returns the error of a control; the empty text if there is none. */
function faultOf({ validity, validationMessage }: Checked): string {
  if (validity.badInput) return 'Enter a number';
  if (validity.stepMismatch) return 'Enter an integer';
  return validity.valueMissing ? 'This field is required; enter a value' : validationMessage;
}

function JsonField({
  title,
  isRequired,
  value,
  onChange,
}: ControlProps & { readonly value: unknown; readonly onChange: (value: unknown) => void }) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value)));
  return (
    <Control title={`${title} (JSON)`} isRequired={isRequired}>
      {(checks) => (
        <textarea
          {...checks}
          rows={1}
          spellcheck={false}
          value={text}
          onInput={({ currentTarget: area }) => {
            setText(area.value);
            area.setCustomValidity('');
            try {
              onChange(area.value.trim() === '' ? undefined : JSON.parse(area.value));
            } catch (thrown) {
              area.setCustomValidity(`This is not JSON: ${(thrown as Error).message}`);
            }
          }}
        />
      )}
    </Control>
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

function withMember(value: Members, name: string, member: unknown): Members {
  const { [name]: _, ...rest } = value;
  return member === undefined ? rest : { ...value, [name]: member };
}

function emptyAsNone(value: Members, isRequired: boolean): Members | undefined {
  return !isRequired && Object.keys(value).length === 0 ? undefined : value;
}
