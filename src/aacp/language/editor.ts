/** AACP as a language of an editor. */
import { packetTokens } from '../../../grammar/aacp.tokens.js';
import type { EditorLanguage } from '../../grammar-export/editor-language.js';
import { TOKEN_SCOPES } from '../../grammar-export/scopes.js';

/** For `textMateGrammar()` and `codeMirrorMode()`: the tokens are those of the finder and of highlighting on terminals. */
export const aacpEditor: EditorLanguage = {
  name: 'AACP',
  id: 'aacp',
  fileTypes: ['aacp'],
  table: { states: packetTokens, start: 'start' },
  scopes: TOKEN_SCOPES,
};
