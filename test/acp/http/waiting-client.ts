/** Connects to the URL in its argument, and prints the answer of a request. Nothing but the connection keeps it alive. */
import { connectAcp } from '../../../src/acp/http/index.js';
import { createConnection } from '../../../src/acp/index.js';

const connection = createConnection(connectAcp(process.argv[2]!));
await connection.request('initialize', {});
console.log(await connection.request('think', {}));
await connection.close();
