/** Rules for human resources; see ../bundled.ts for the form. */
export const HR_RULES = `
hr-fetch-employee-salaries: Fetch employee salaries
  about Salary records of the active employees for a month: the first step of a payroll run.
  packet FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:{period}|filter:status=active|fmt:json
  tags employees, salary, payroll, active
  phrase retrieve the employee salary records for {period}
  phrase retrieve the salary records of all active employees for {period}
  phrase get salary data for all active employees for {period}
  phrase fetch active employee salaries for {period} as JSON
  phrase retrieve the employee salary records for the period ending {period}
  step PayrollEncoder.fetch_employees period={period}
hr-merge-payroll: Merge and calculate payroll
  about Joins salaries with budgets, calculates net pay by the payroll rules and checks totals against budgets.
  packet MERGE|HR|return:HR-Agent|p:1|aacp:1.1|period:{period}
  tags payroll, merge, calculate, pension, paye, net-pay
  phrase merge the salary and budget data and calculate the payroll for {period}
  phrase merge the employee salaries with the budget allocations for {period} and calculate the payroll
hr-merge-payroll-by-rules: Calculate payroll by version 2 of its rules
  about Joins salaries with budgets, calculates net pay by version 2 of the payroll rules and validates it against the budgets.
  packet MERGE|HR|return:HR-Agent|p:1|aacp:1.1|period:{period}|rules:payroll_v2|validate:budget_cc
  tags payroll, merge, calculate, pension, paye, net-pay
  phrase merge and calculate the payroll for {period} with payroll rules version 2 and validate it against the budgets
  phrase merge and calculate the payroll of {period} by version 2 of the payroll rules and validate it against the budgets
  step PayrollEncoder.merge_and_calculate period={period}
hr-report-payroll: Monthly payroll report
  about The payroll report of a month as PDF and Excel, compared with another month.
  packet REPORT|HR|return:HR-Agent|p:2|aacp:1.1|period:{period}|fmt:pdf,xlsx|src_prev:{previous}|highlight:REVIEW_REQ
  tags payroll, report, monthly, summary
  phrase generate the monthly payroll report for {period} with a comparison to {previous:period}
  phrase generate the payroll report for {period} compared with {previous:period} as PDF and Excel
  phrase create the payroll summary report for {period} in PDF and Excel format, including a comparison to {previous:period}
  step PayrollEncoder.generate_report period={period} prev_period={previous}
hr-send-payroll-report: Send the payroll report
  about The payroll report of a month to the directors of finance and human resources, marked for their review.
  packet SEND|HR|return:HR-Agent|p:2|aacp:1.1|to:fin_director,hr_director|subj:payroll_{period}_REVIEW_REQ|att:rpt://payroll/{period}:pdf|flag_msg:review_required
  tags payroll, report, directors, distribution
  phrase send the payroll report for {period} as PDF to the finance director and the HR director for review
  phrase email the {period} payroll report as PDF to the HR and finance directors, flagged as review required
  step PayrollEncoder.send_report period={period}
hr-log-payroll-run: Log a payroll run
  about The audit record of a payroll run that has to be reviewed.
  packet LOG|HR|return:AUD-Agent|p:2|aacp:1.1|period:{period}|status:review_required
  tags payroll, audit, audit-trail, run
  phrase log the payroll run for {period} to the audit trail with status review required
  phrase write an audit record for the payroll run of {period}, review required
hr-fetch-new-hire: Fetch a new hire
  about The employee record of a joiner, by employee number.
  packet FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:employee_record|filter:id={employee}|fmt:json
  tags joiner, new-hire, onboarding, employee
  phrase fetch the employee record of new hire {employee:id}
  phrase get the record of the new employee {employee:id} as JSON
  phrase retrieve the new hire record for employee {employee:id}
  step JMLEncoder.fetch_new_hire employee_id={employee}
hr-send-welcome: Send a welcome message
  about Welcomes a joiner once the onboarding is complete.
  packet SEND|HR|return:HR-Agent|p:2|aacp:1.1|to:{username}|subj:welcome_{username}_onboarding|flag_msg:onboarding_complete
  tags joiner, new-hire, welcome, onboarding
  phrase send the onboarding welcome message to user {username:text} now that onboarding is complete
  phrase send user {username:text} the welcome message, onboarding is complete
  step JMLEncoder.send_welcome username={username}
hr-fetch-absences: Fetch absence records
  about Sickness and other absences of all employees for a month.
  packet FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:absence_records|period:{period}
  tags absence, sickness, attendance
  phrase fetch the absence records for {period}
  phrase get all employee absences for {period}
hr-fetch-headcount: Fetch headcount
  about How many people each department has in a month.
  packet FETCH|HR|return:HR-Agent|p:2|aacp:1.1|res:headcount|period:{period}|fields:department,headcount
  tags headcount, workforce, department
  phrase get the headcount by department for {period}
  phrase retrieve the {period} headcount of each department
hr-process-leave-request: Process a leave request
  about Handles an application for leave by its number.
  packet PROC|HR|return:HR-Agent|p:2|aacp:1.1|res:leave_request|filter:id={request}
  tags leave, holiday, request, absence
  phrase process leave request {request:id}
  phrase handle the holiday request {request:id}
hr-calculate-net-pay: Calculate net pay
  about Take-home pay of one employee for a month, after tax and pension.
  packet CALC|HR|return:HR-Agent|p:2|aacp:1.1|res:net_pay|period:{period}|filter:id={employee}
  tags net-pay, take-home, paye, pension
  phrase calculate the net pay of employee {employee:id} for {period}
  phrase work out the take-home pay for employee {employee:id} in {period}
hr-flag-payroll-anomalies: Flag payroll anomalies
  about Marks unusual amounts in the payroll of a month for review.
  packet FLAG|HR|return:HR-Agent|p:1|aacp:1.1|res:payroll|period:{period}|issue:anomaly
  tags payroll, anomaly, review, outliers
  phrase flag any anomalies in the {period} payroll
  phrase flag payroll anomalies for {period} for review
hr-report-headcount: Quarterly headcount report
  about Joiners, leavers and headcount of a quarter.
  packet REPORT|HR|return:HR-Agent|p:3|aacp:1.1|res:headcount|period:{quarter}
  tags headcount, quarterly, workforce, turnover
  phrase generate the headcount report for {quarter}
  phrase prepare a report on headcount for {quarter}
`;
