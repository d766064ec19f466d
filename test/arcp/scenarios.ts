/** The four scenarios of the specification (spec 003, "Example Scenarios"). */
import type { Scenario } from '../examples/arcp/stage.js';
import { scenario as refund } from '../examples/customer-support-refund.js';
import { scenario as ingestion } from '../examples/data-ingestion-workflow.js';
import { scenario as incident } from '../examples/incident-response.js';
import { scenario as review } from '../examples/local-code-review.js';

/** The scenarios, by the name of their file. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'customer-support-refund': refund,
  'local-code-review': review,
  'data-ingestion-workflow': ingestion,
  'incident-response': incident,
};
