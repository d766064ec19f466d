/** The page of an inspector. */
import { render } from 'preact';
import { App } from './app.js';
import { FeedClient } from './feed-client.js';

const client = new FeedClient();
void client.run();
const root = document.getElementById('app')!;
root.replaceChildren();
render(<App client={client} />, root);
