/** The completion of the editor: loaded when an editor gets the focus. */
import { autocompletion, type CompletionSource, completionKeymap } from '@codemirror/autocomplete';
import { type Extension, Prec } from '@codemirror/state';
import { keymap } from '@codemirror/view';

export function completion(source: CompletionSource): Extension {
  return [autocompletion({ override: [source], icons: false }), Prec.high(keymap.of(completionKeymap))];
}
