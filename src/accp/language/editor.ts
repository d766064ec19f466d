/** ACCP as a language of an editor. */
import { frameTokens } from '../../../grammar/accp.tokens.js';
import type { EditorLanguage } from '../../grammar-export/editor-language.js';
import { TOKEN_SCOPES } from '../../grammar-export/scopes.js';

/** For `textMateGrammar()` and `codeMirrorMode()`: the tokens are those of the finder and of highlighting on terminals. */
export const accpEditor: EditorLanguage = {
  name: 'ACCP',
  id: 'accp',
  fileTypes: ['accp'],
  table: { states: { frame: frameTokens }, start: 'frame' },
  scopes: TOKEN_SCOPES,
};
