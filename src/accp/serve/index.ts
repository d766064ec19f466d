/** ACCP over HTTP and WebSocket on one port, for Node. Public as `pegwire/accp/serve`. */

export { ServeError, type ServeErrorCode } from '../../channels/node/listen.js';
export { type ErrorJson, PegwireError } from '../../text/errors.js';
export {
  type Answer,
  type AnswerContext,
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
} from '../bindings/endpoint.js';
export { type AccessEntry, accessLine } from './access-log.js';
export { DEMO_AGENTS, type DemoAgentName, demoAgent } from './agents.js';
export { type Route, type RunningServer, type ServeOptions, type ServerStatus, startServer } from './server.js';
