/** The page: tabs, theme, links, examples. Every tab but the first is loaded when it is opened. */
import { createTab as createAccpTab } from './accp-tab.js';
import { TaskClient } from './client.js';
import { announce, flash, h } from './dom.js';
import { EXAMPLES } from './examples.js';
import { fromFragment, toFragment } from './share.js';
import { type Context, type CreateTab, DOCS, type Tab } from './tab.js';

const TABS: Readonly<
  Record<string, { readonly title: string; readonly load: () => Promise<{ readonly createTab: CreateTab }> }>
> = {
  accp: { title: 'ACCP', load: async () => ({ createTab: createAccpTab }) },
  aacp: { title: 'AACP', load: () => import('./aacp-tab.js') },
  formats: { title: 'Formats compared', load: () => import('./formats-tab.js') },
  grammar: { title: 'Any grammar', load: () => import('./grammar-tab.js') },
  session: { title: 'Session', load: () => import('./session-tab.js') },
};

const tokenListeners: (() => void)[] = [];
const client = new TaskClient(() => void loadTokens('o200k_base'));
const context: Context = { client, onTokens: (listener) => tokenListeners.push(listener), loadTokens };
const opened = new Map<string, Promise<Tab>>();
const buttons = new Map<string, HTMLButtonElement>();
const panels = new Map<string, HTMLElement>();
let current = 'accp';
const damaged = h('p', { class: 'notice', role: 'alert', hidden: true });

async function loadTokens(encoding: string): Promise<boolean> {
  const loaded = await client.run('tokenizer', { encoding, base: document.baseURI }, 60_000).catch(() => false);
  if (loaded) for (const listener of tokenListeners) listener();
  return loaded;
}

function buildTabs(): void {
  const list = document.querySelector<HTMLElement>('#tabs')!;
  const main = document.querySelector('main')!;
  for (const [name, { title }] of Object.entries(TABS)) {
    const button = h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${name}`,
        'aria-controls': `panel-${name}`,
        'aria-selected': 'false',
        tabindex: -1,
        click: () => choose(name),
      },
      title,
    );
    const panel = h('div', { role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}`, hidden: true });
    list.append(button);
    main.append(panel);
    buttons.set(name, button);
    panels.set(name, panel);
  }
  list.addEventListener('keydown', (event) => {
    const names = Object.keys(TABS);
    const at = names.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = names.at(to % names.length)!;
    buttons.get(next)!.focus();
    choose(next);
  });
}

/** Opens the tab that the visitor has chosen. */
function choose(name: string): void {
  damaged.hidden = true;
  void open(name);
}

async function open(name: string): Promise<Tab> {
  current = name;
  for (const [other, button] of buttons) {
    button.setAttribute('aria-selected', String(other === name));
    button.tabIndex = other === name ? 0 : -1;
    panels.get(other)!.hidden = other !== name;
  }
  let tab = opened.get(name);
  if (tab === undefined) {
    tab = TABS[name]!.load().then(({ createTab }) => createTab(context));
    opened.set(name, tab);
    tab.then(
      ({ element }) => panels.get(name)!.replaceChildren(element),
      (thrown: Error) => {
        opened.delete(name);
        panels
          .get(name)!
          .replaceChildren(h('p', { class: 'error' }, `This tab could not be loaded: ${thrown.message}`));
      },
    );
  }
  return tab;
}

async function restore(): Promise<boolean> {
  const shared = await fromFragment(location.hash);
  const isOurs = shared !== null && Object.hasOwn(TABS, shared.tab);
  damaged.hidden = isOurs || location.hash.length < 2;
  damaged.textContent = 'The link is damaged or incomplete: its text cannot be shown.';
  if (!isOurs) return false;
  (await open(shared.tab)).restore(shared.state);
  return true;
}

async function share(button: HTMLButtonElement): Promise<void> {
  const tab = await open(current);
  const fragment = await toFragment({ tab: current, state: tab.save() });
  if (fragment === null) {
    flash(button, 'Too long');
    announce('The text is too long for a link.');
    return;
  }
  history.replaceState(null, '', fragment);
  await navigator.clipboard.writeText(location.href).then(
    () => announce('The link is copied. The text is in its fragment, which browsers do not send.'),
    () => announce('The link is in the address bar.'),
  );
  flash(button, 'Link ready');
}

function gallery(): void {
  const dialog = document.querySelector<HTMLDialogElement>('#gallery')!;
  const list = dialog.querySelector('ul')!;
  if (list.childElementCount === 0) {
    for (const { tab, title, description, state } of EXAMPLES) {
      const load = async (): Promise<void> => {
        dialog.close();
        (await open(tab)).restore(state);
      };
      list.append(
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', class: 'example', click: () => void load() },
            h('span', { class: 'tag' }, TABS[tab]!.title),
            h('strong', {}, title),
            h('span', {}, description),
          ),
        ),
      );
    }
  }
  dialog.showModal();
}

const THEMES = ['system', 'light', 'dark'] as const;

function setTheme(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  const button = document.querySelector('#theme')!;
  button.textContent = `Theme: ${theme}`;
}

function buildTheme(): void {
  let theme: string = THEMES[0];
  try {
    theme = localStorage.getItem('pegwire-theme') ?? theme;
  } catch {
    // Storage is disabled.
  }
  if (!(THEMES as readonly string[]).includes(theme)) theme = THEMES[0];
  setTheme(theme);
  document.querySelector('#theme')!.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme as 'system') + 1) % THEMES.length]!;
    setTheme(theme);
    try {
      localStorage.setItem('pegwire-theme', theme);
    } catch {
      // Storage is disabled.
    }
  });
}

document.querySelector('header')!.after(damaged);
buildTabs();
if (DOCS !== null) document.querySelector('.actions')!.append(h('a', { href: DOCS }, 'Docs'));
buildTheme();
document
  .querySelector<HTMLButtonElement>('#share')!
  .addEventListener('click', ({ currentTarget }) => void share(currentTarget as HTMLButtonElement));
document.querySelector('#examples')!.addEventListener('click', gallery);
addEventListener('hashchange', () => void restore());
void restore().then((restored) => (restored ? undefined : open('accp')));
// The tokenizer is larger than the page: it is loaded when the page is ready.
const later = (): void => {
  void loadTokens('o200k_base');
  void import('./sandbox.js').then(({ prepareFrame }) => prepareFrame());
};
if (document.readyState === 'complete') later();
else addEventListener('load', () => setTimeout(later, 300), { once: true });
if ('serviceWorker' in navigator) {
  navigator.serviceWorker.register('service-worker.js').catch(() => {
    // The page works without it, but not offline.
  });
}
