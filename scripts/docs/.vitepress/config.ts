/** The site's settings. Its pages are in `.docs/`, assembled by `scripts/docs/build.ts`. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress';
import { slug } from '../markdown.js';

const REPOSITORY = 'https://github.com/pegwire/pegwire';
const SIDEBAR = fileURLToPath(new URL('../../../.docs/sidebar.json', import.meta.url));

/** The longest code that does not wrap in a table, in characters. */
const LONG_CODE = 36;

/**
 * Renders a page for the search index. In the API reference, the headings below a declaration ("Parameters", "Returns") are no entries of
 * their own.
 */
function searchable(source: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  const html = md.render(source, env);
  return env.relativePath.startsWith('api/') ? html.replace(/<(\/?)h[4-6]/g, '<$1p') : html;
}

/** Puts the page of an error first when its code is searched, and lists of requirements last. The browser gets the text of this function. */
function boostDocument(page: string, term: string, { title }: Record<string, string | string[]>): number {
  if (page.includes('/errors/') && String(title).toLowerCase().includes(term.toLowerCase())) return 20;
  return page.includes('/requirements/') ? 0.3 : 1;
}

/** Allows for misspelled words, but not for other codes. The browser gets the text of this function. */
function fuzzy(term: string): number | boolean {
  return /\d/.test(term) ? false : 0.2;
}

export default defineConfig({
  title: 'pegwire',
  description:
    'Parsers, codecs, sessions and runtimes for the languages AI agents speak to each other: ACCP, AACP, ACP and ARCP.',
  lang: 'en',
  srcDir: '../../.docs',
  outDir: '../../docs-dist',
  cacheDir: '../../.docs/cache',
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  transformHead: ({ siteData }) => [['link', { rel: 'icon', type: 'image/svg+xml', href: `${siteData.base}logo.svg` }]],
  themeConfig: {
    logo: '/logo.svg',
    sidebar: existsSync(SIDEBAR) ? (JSON.parse(readFileSync(SIDEBAR, 'utf8')) as DefaultTheme.SidebarItem[]) : [],
    nav: [
      { text: 'Guides', link: '/start/introduction/', activeMatch: '^/(start|guides|protocols)/' },
      { text: 'Command line', link: '/cli/', activeMatch: '^/cli/' },
      { text: 'Errors', link: '/errors/', activeMatch: '^/errors/' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      // A page of its own, not one of VitePress.
      { text: 'Playground', link: '/playground/', target: '_self' },
    ],
    outline: { level: [2, 3], label: 'On this page' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: ({ frontmatter }) => `https://github.com/pegwire/pegwire/edit/main/${frontmatter['source']}` },
    search: {
      provider: 'local',
      options: { _render: searchable, miniSearch: { searchOptions: { boostDocument, fuzzy } } },
    },
  },
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light', dark: 'github-dark' },
    languageAlias: { jsonl: 'json', peggy: 'js', abnf: 'text' },
    config: (md) => {
      // Braces in texts are no templates.
      const { text } = md.renderer.rules;
      md.renderer.rules.text = (...args) => (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
      // Long code may wrap in a table, so that it leaves room for the other columns.
      const { code_inline: inlineCode } = md.renderer.rules;
      md.renderer.rules.code_inline = (...args) => {
        const token = args[0][args[1]]!;
        if (token.content.length > LONG_CODE) token.attrJoin('class', 'long');
        return inlineCode!(...args);
      };
    },
  },
});
