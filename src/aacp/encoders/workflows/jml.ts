import { defineWorkflow } from '../define-workflow.js';
import { actor, list, step, text, USERNAME } from '../inputs.js';

/** Employees who join (six steps), move (one) or leave (two). */
export const JMLEncoder = defineWorkflow({
  name: 'JMLEncoder',
  alias: 'jml',
  summary: 'Joiners, movers and leavers: accounts, licences, access, log.',
  steps: {
    fetch_new_hire: step(
      ['FETCH', 'HR', 'HR-Agent', 1],
      'Fetch the record of a new employee.',
      { employee_id: text('the employee', { example: 'E009' }) },
      [
        ['res', 'employee_record'],
        ['filter', ['id={employee_id}']],
        ['fmt', 'json'],
      ],
    ),
    create_account: step(
      ['BUILD', 'IT', 'IT-Agent', 1],
      'Create the directory account.',
      { username: USERNAME, dept: text('the department', { example: 'Engineering' }) },
      [
        ['res', 'ad_account'],
        ['filter', ['usr={username}']],
        ['fields', 'email,dept,grp,pwd_reset'],
        ['rules', ['dept={dept}'], { only: 'default' }],
      ],
    ),
    assign_licences: step(
      ['PROC', 'IT', 'IT-Agent', 1],
      'Assign licences.',
      { username: USERNAME, licences: list('the licences', { default: ['M365', 'Slack', 'VPN'] }) },
      [
        ['res', 'licence_assignment'],
        ['filter', ['usr={username}']],
        ['req', ['{licences}']],
      ],
    ),
    configure_access: step(
      ['BUILD', 'IT', 'IT-Agent', 1],
      'Give access to systems.',
      { username: USERNAME, systems: list('the systems', { default: ['email', 'vpn', 'sharepoint'] }) },
      [
        ['res', 'access_profile'],
        ['filter', ['usr={username}']],
        ['req', ['{systems}']],
      ],
    ),
    send_welcome: step(['SEND', 'HR', 'HR-Agent', 2], 'Welcome the new employee.', { username: USERNAME }, [
      ['to', ['{username}']],
      ['subj', 'welcome_{username:space-to-underscore}_onboarding'],
      ['flag_msg', 'onboarding_complete'],
    ]),
    log_provisioning: step(
      ['LOG', 'IT', 'AUD-Agent', 2],
      'Log the provisioning.',
      { username: USERNAME, actor: actor('IT-Agent'), status: text('the outcome', { default: 'provisioned' }) },
      [
        ['filter', ['usr={username}']],
        ['status', '{status}'],
        ['actor', '{actor}'],
        ['chain', 'HR-Agent,IT-Agent,IT-Agent,IT-Agent,HR-Agent'],
      ],
    ),
    update_access: step(
      ['PROC', 'IT', 'IT-Agent', 1],
      'Change the access to that of another role.',
      { username: USERNAME, new_role: text('the new role', { example: 'senior_engineer' }) },
      [
        ['res', 'access_update'],
        ['filter', ['usr={username}']],
        ['rules', ['role={new_role}']],
        ['validate', 'no_privilege_creep'],
      ],
    ),
    revoke_access: step(['PROC', 'IT', 'IT-Agent', 1], 'Revoke all access.', { username: USERNAME }, [
      ['res', 'access_revocation'],
      ['filter', ['usr={username}']],
      ['req', 'disable_ad,revoke_licences,revoke_vpn'],
    ]),
    log_offboarding: step(
      ['LOG', 'IT', 'AUD-Agent', 1],
      'Log that an employee has left.',
      { username: USERNAME, actor: actor('IT-Agent') },
      [
        ['filter', ['usr={username}']],
        ['status', 'offboarded'],
        ['actor', '{actor}'],
      ],
    ),
  },
  sequences: {
    full_joiner: {
      summary: 'All steps for a new employee.',
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
