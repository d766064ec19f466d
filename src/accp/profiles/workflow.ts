/** TA: assignment of tasks (draft-benzing-accp-00, section 10.5). It has fields and defaults, and no rule beyond them. */
import { sealDefinition } from '../message/schema-definition.js';
import type { Profile } from './profile.js';

export const WORKFLOW: Profile = {
  code: 'TA',
  name: 'Workflow',
  schemaName: 'task_assignment',
  schema: sealDefinition({
    code: 'TA',
    // As in the example of a registry (section 6.2), so that whoever loads that has the same.
    version: 2,
    fields: ['assignee', 'task', 'priority', 'deadline', 'deps'],
    defaults: { priority: 'medium', deps: [] },
    types: { assignee: 'string', task: 'string', priority: 'string', deadline: 'string', deps: 'array' },
  }),
  check: () => {},
};
