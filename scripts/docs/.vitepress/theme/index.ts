/** The default theme with other type and other colours. */
import '@fontsource/ibm-plex-sans/latin-400.css';
import '@fontsource/ibm-plex-sans/latin-400-italic.css';
import '@fontsource/ibm-plex-sans/latin-600.css';
import '@fontsource/ibm-plex-mono/latin-400.css';
import '@fontsource/ibm-plex-mono/latin-600.css';
import { inBrowser, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

/** The part of the DOM that is used here; the sources of the project know none. */
interface Box {
  scrollTop: number;
  getBoundingClientRect(): { readonly top: number; readonly bottom: number };
}
declare const document: { querySelector(selector: string): Box | null };

/** Scrolls the sidebar to the item of the page. */
function showItem(): void {
  const sidebar = document.querySelector('.VPSidebar');
  const item = document.querySelector('.VPSidebarItem.is-active.is-link > .item');
  if (sidebar === null || item === null) return;
  const { top, bottom } = sidebar.getBoundingClientRect();
  const position = item.getBoundingClientRect().top;
  if (position < top || position > bottom - 40) sidebar.scrollTop += position - (top + bottom) / 2;
}

const theme: Theme = {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (!inBrowser) return;
    // The groups of the sidebar open after the page is shown.
    router.onAfterRouteChange = () => void setTimeout(showItem, 300);
  },
};

export default theme;
