/**
 * Builds the extension for VS Code: the language server and the client in one unsigned .vsix, which is a zip archive.
 *
 *     npm run vsix                          writes pegwire-VERSION.vsix
 *     npm run vsix -- --out FILE
 *     code --install-extension pegwire-VERSION.vsix
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import { strToU8, zipSync } from 'fflate';
import { aacpEditor } from '../src/aacp/language/language.js';
import { accpEditor } from '../src/accp/language/language.js';
import { textMateGrammar } from '../src/grammar-export/textmate.js';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const source = path.join(root, 'src/language-server/vscode');
const { version, license, repository, homepage } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const own = JSON.parse(readFileSync(path.join(source, 'manifest.json'), 'utf8'));

/** The grammars of messages know no comments, which only files have. */
const COMMENT = { name: 'comment.line.number-sign', match: '^[ \\t]*#.*$' };

/** Builds the extension. @returns the archive */
export function buildExtension(): Uint8Array {
  const read = (name: string): Uint8Array => readFileSync(path.join(root, name));
  const manifest = { ...own, version, license, homepage, repository };
  const syntaxes = Object.fromEntries(
    [accpEditor, aacpEditor].map((editor) => {
      const grammar = textMateGrammar(editor);
      return [
        `extension/syntaxes/${editor.id}.json`,
        strToU8(JSON.stringify({ ...grammar, patterns: [COMMENT, ...grammar.patterns] })),
      ];
    }),
  );
  return zipSync(
    {
      '[Content_Types].xml': strToU8(CONTENT_TYPES),
      'extension.vsixmanifest': strToU8(vsixManifest()),
      'extension/package.json': strToU8(JSON.stringify(manifest, null, 2)),
      'extension/readme.md': read('src/language-server/README.md'),
      'extension/LICENSE.txt': read('LICENSE'),
      'extension/dist/extension.cjs': bundle('extension.ts'),
      'extension/dist/server.cjs': bundle('server.ts'),
      'extension/languages/messages.json': read('src/language-server/vscode/languages/messages.json'),
      'extension/languages/peggy.json': read('src/language-server/vscode/languages/peggy.json'),
      ...syntaxes,
      'extension/syntaxes/peggy.json': read('src/language-server/vscode/languages/peggy-syntax.json'),
    },
    // The same sources give the same archive.
    { level: 9, mtime: '1980-01-01T00:00:00' },
  );
}

function bundle(file: string): Uint8Array {
  const { outputFiles } = buildSync({
    entryPoints: [path.join(source, file)],
    ...{ bundle: true, minify: true, write: false, platform: 'node', format: 'cjs', target: 'node20' },
    external: ['vscode'],
    define: { PEGWIRE_VERSION: JSON.stringify(version) },
    legalComments: 'none',
  });
  return outputFiles[0]!.contents;
}

const CONTENT_TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".vsixmanifest" ContentType="text/xml"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/><Default Extension=".cjs" ContentType="application/javascript"/></Types>
`;

/** Returns the manifest that VS Code and the marketplace read before the one in package.json. */
function vsixManifest(): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
  <Metadata>
    <Identity Language="en-US" Id="${own.name}" Version="${version}" Publisher="${own.publisher}"/>
    <DisplayName>${own.displayName}</DisplayName>
    <Description xml:space="preserve">${own.description}</Description>
    <Tags>accp,aacp,peggy,agent,protocol</Tags>
    <Categories>${own.categories.join(',')}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${own.engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionPack" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
      <Property Id="Microsoft.VisualStudio.Services.Links.Source" Value="${homepage}"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/readme.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: `pegwire-${version}.vsix` } } });
  const archive = buildExtension();
  writeFileSync(values.out, archive);
  console.log(`${values.out}: ${Math.round(archive.length / 1024)} kB`);
}
