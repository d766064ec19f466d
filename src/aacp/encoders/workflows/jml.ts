import { defineWorkflow } from '../define-workflow.js';
import { actor, list, text, USERNAME } from '../inputs.js';

/** Employees who join (six steps), move (one) or leave (two). */
export const JMLEncoder = defineWorkflow({
  name: 'JMLEncoder',
  alias: 'jml',
  summary: 'Joiners, movers and leavers: accounts, licences, access, log.',
  steps: {
    fetch_new_hire: {
      summary: 'Fetch the record of a new employee.',
      task: 'FETCH',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 1,
      inputs: { employee_id: text('the employee', { example: 'E009' }) },
      fields: [
        ['res', 'employee_record'],
        ['filter', ['id={employee_id}']],
        ['fmt', 'json'],
      ],
    },
    create_account: {
      summary: 'Create the directory account.',
      task: 'BUILD',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME, dept: text('the department', { example: 'Engineering' }) },
      fields: [
        ['res', 'ad_account'],
        ['filter', ['usr={username}']],
        ['fields', 'email,dept,grp,pwd_reset'],
        ['rules', ['dept={dept}'], { only: 'default' }],
      ],
    },
    assign_licences: {
      summary: 'Assign licences.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME, licences: list('the licences', { default: ['M365', 'Slack', 'VPN'] }) },
      fields: [
        ['res', 'licence_assignment'],
        ['filter', ['usr={username}']],
        ['req', ['{licences}']],
      ],
    },
    configure_access: {
      summary: 'Give access to systems.',
      task: 'BUILD',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME, systems: list('the systems', { default: ['email', 'vpn', 'sharepoint'] }) },
      fields: [
        ['res', 'access_profile'],
        ['filter', ['usr={username}']],
        ['req', ['{systems}']],
      ],
    },
    send_welcome: {
      summary: 'Welcome the new employee.',
      task: 'SEND',
      domain: 'HR',
      returnAgent: 'HR-Agent',
      priority: 2,
      inputs: { username: USERNAME },
      fields: [
        ['to', ['{username}']],
        ['subj', 'welcome_{username:space-to-underscore}_onboarding'],
        ['flag_msg', 'onboarding_complete'],
      ],
    },
    log_provisioning: {
      summary: 'Log what was set up.',
      task: 'LOG',
      domain: 'IT',
      returnAgent: 'AUD-Agent',
      priority: 2,
      inputs: {
        username: USERNAME,
        actor: actor('IT-Agent'),
        status: text('how it ended', { default: 'provisioned' }),
      },
      fields: [
        ['filter', ['usr={username}']],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', 'HR-Agent,IT-Agent,IT-Agent,IT-Agent,HR-Agent'],
      ],
    },
    update_access: {
      summary: 'Change access to that of another role.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME, new_role: text('the new role', { example: 'senior_engineer' }) },
      fields: [
        ['res', 'access_update'],
        ['filter', ['usr={username}']],
        ['rules', ['role={new_role}']],
        ['validate', 'no_privilege_creep'],
      ],
    },
    revoke_access: {
      summary: 'Revoke all access.',
      task: 'PROC',
      domain: 'IT',
      returnAgent: 'IT-Agent',
      priority: 1,
      inputs: { username: USERNAME },
      fields: [
        ['res', 'access_revocation'],
        ['filter', ['usr={username}']],
        ['req', 'disable_ad,revoke_licences,revoke_vpn'],
      ],
    },
    log_offboarding: {
      summary: 'Log that an employee has left.',
      task: 'LOG',
      domain: 'IT',
      returnAgent: 'AUD-Agent',
      priority: 1,
      inputs: { username: USERNAME, actor: actor('IT-Agent') },
      fields: [
        ['filter', ['usr={username}']],
        ['status', 'offboarded'],
        ['actor', '{actor}'],
      ],
    },
  },
  sequences: {
    full_joiner: {
      summary: 'All that has to be done for a new employee.',
      inputs: ['employee_id', 'username', 'dept', 'licences'],
      steps: [
        'fetch_new_hire',
        'create_account',
        'assign_licences',
        'configure_access',
        'send_welcome',
        'log_provisioning',
      ],
    },
  },
});
