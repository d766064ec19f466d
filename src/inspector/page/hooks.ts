/** Hooks of the components. */
import { useEffect, useState } from 'preact/hooks';
import type { FeedClient } from './feed-client.js';

/** Renders a component again when the state of the page changes. */
export function useFeed(client: FeedClient): void {
  const [, render] = useState(0);
  useEffect(() => client.watch(() => render((count) => count + 1)), [client]);
}

/** The width of the page: `narrow` has one column, `middle` two, `wide` three. */
export type Width = 'narrow' | 'middle' | 'wide';

/** Returns the width of the page, and renders again when it changes. */
export function useWidth(): Width {
  const [width, setWidth] = useState(currentWidth);
  useEffect(() => {
    const change = (): void => setWidth(currentWidth());
    addEventListener('resize', change);
    return () => removeEventListener('resize', change);
  }, []);
  return width;
}

function currentWidth(): Width {
  return innerWidth < 860 ? 'narrow' : innerWidth < 1500 ? 'middle' : 'wide';
}
