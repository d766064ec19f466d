/** Tabs by the pattern of WAI-ARIA: one stop of the Tab key, inside of which the arrow keys, Home and End select. */
import type { ComponentChildren } from 'preact';

interface TabsProps<Name extends string> {
  readonly class: string;
  readonly label: string;
  readonly names: readonly Name[];
  readonly selected: Name;
  /** The id of the panel, which is labelled by `${panel}-tab`. */
  readonly panel: string;
  readonly onSelect: (name: Name) => void;
  /** @default the name */
  readonly titleOf?: (name: Name) => ComponentChildren;
}

export function Tabs<Name extends string>(props: TabsProps<Name>) {
  const { label, names, selected, panel, onSelect, titleOf = (name) => name } = props;
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
    const at = names.indexOf(selected);
    const index = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (index === undefined) return;
    event.preventDefault();
    const next = names.at(index % names.length)!;
    (event.currentTarget.children[names.indexOf(next)] as HTMLElement).focus();
    onSelect(next);
  };
  return (
    <div role="tablist" class={props.class} aria-label={label} onKeyDown={onKeyDown}>
      {names.map((name) => {
        const isSelected = name === selected;
        return (
          <button
            key={name}
            type="button"
            role="tab"
            id={isSelected ? `${panel}-tab` : undefined}
            aria-selected={isSelected}
            aria-controls={isSelected ? panel : undefined}
            tabIndex={isSelected ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {titleOf(name)}
          </button>
        );
      })}
    </div>
  );
}
