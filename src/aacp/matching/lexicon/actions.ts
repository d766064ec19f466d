/**
 * What an instruction can ask to do. One line for each action: its name, then the words and phrases that ask for the same.
 * Base forms only; words that merely resemble each other ("delete", "remove") are different actions.
 */
export const ACTIONS = `
fetch: retrieve, pull, i need the, i need all, we need the, we need all, i want the, i want all, we want the, we want all, i would like the, i would like all, we would like the, we would like all, i'd like the, i'd like all, we'd like the, we'd like all, export, see, see what, take a look up of, have a list of, return a list of, pull a list of, request a list of, get back, get, pull together, pull up, pull out, show, list, list out, find, find me, extract, look up, bring up, grab, gather, give me, give us, get me, get us, get hold of, show me, show us, send me, send us, provide me with, provide us with, supply me with, supply us with, let me have, let us have, let me see, bring me, hand me, tell me, give a list of, give an extract of, i am looking for, i'm looking for, we are looking for, need to see, would like to see, want to see, i am after, can i have, can we have, could i have, could we have, may i have, can i get, can we get, could i get, could we get, what is, what are, what was, what were, read out, dig out, fish out, get a list of, give a list of, produce a list of, list all, query
create: generate, produce, make, build, compile, put together, draw up
draft: write, write up, compose, pen, word, draw up a draft of
run: perform, carry out
calculate: compute, work out, figure out, determine, total up, tot up, recalculate, run the numbers for, run the calculation of, run the calculation for, calculate out
flag: highlight, call out, point out, put a flag on, raise a flag on, raise a flag for
identify: spot, detect, pick out, pinpoint
send: forward, dispatch, transmit, distribute, circulate, email, e mail, send out, send over, send across, pass on, issue out
notify: inform, alert, advise, make aware, let know, let them know, give notice to, give a heads up to, tell, message, ping
log: note, note down, write down, write to the log, make a record of, make a note of, keep a record of, put on record, enter in the log, log an entry for, add a log entry for, write to the audit trail, record in the audit trail, record in the audit log, log to the audit trail, log in the audit trail, add to the audit trail, add to the audit log, enter in the audit trail, enter into the audit trail, log in the audit log, log to the audit log, write an audit entry for, write an audit record for, write an audit record of, make an audit entry for, create an audit entry for, create an audit record for, create an audit record of, put in the audit log, put in the audit trail, make an entry in the audit log, make an entry in the audit trail, add an entry to the audit log, add an entry to the audit trail, make an entry in the log, make a log entry of, make a log entry for
update: modify, edit, revise
delete: erase, purge, wipe
remove: take out, take off, strip, take away
cancel: call off, scrap
revoke: withdraw, rescind, pull back
disable: deactivate, switch off, turn off
enable: activate, switch on, turn on
suspend: pause, put on hold, place on hold
restart: reboot, re start, power cycle, cycle the power of
resume: unpause, continue, carry on with
reset: re set
approve: authorise, sign off, sign off on, give approval for, give approval to, give the go ahead to, give the go ahead for, green light, okay
reject: decline, refuse, turn down, deny, disapprove, knock back
schedule: arrange, set up a time for, put in the diary, plan in, set a date for
reschedule: rearrange, postpone, push back, move the date of
process: handle, deal with, take care of, action, put through, run through the system, attend to
review: examine, inspect, look over, go over, look through, go through, read through, vet, scrutinise, take a look at, have a look at, look at, give a review of
assess: evaluate, appraise, gauge
check: verify, validate, double check, make a check of, test whether, check over
confirm: affirm
ensure: make certain, see to it
compare: cross reference, cross check, contrast, run a comparison of, do a comparison of
match: match up, pair, pair up, tie up
reconcile: square, perform a reconciliation of, do a reconciliation of, run a reconciliation of, run the reconciliation of, do the reconciliation of, do the reconciliation for, run the reconciliation for, carry out a reconciliation of, carry out the reconciliation of, perform the reconciliation of
merge: combine, consolidate, join, join up, unify, bring together, amalgamate, blend, pool
split: divide, separate, break up
resolve: solve, clear up, remedy, rectify, find a resolution for, find a solution for, find a solution to
settle: square up
address: tackle, respond to the issue of
pay: pay out, make payment of, make a payment of, make payment to, make a payment to, remit, disburse
refund: reimburse, pay back, issue a refund of, issue a refund for, issue a refund to, give a refund of, make a refund of
credit: issue a credit of
charge: debit
invoice: send an invoice to
assign: allocate, hand, hand over, allot, designate, put in charge of
route: direct, channel, pass along
escalate: raise to, move up
sign: put signature to
renew: roll over
extend: prolong, lengthen
terminate: end, bring to an end
stop: halt, discontinue, cease
start: begin, commence, kick off, initiate, set in motion, get going, trigger
launch: go live with, roll out the launch of
finish: conclude, wrap up
close: close off, close out
open: reopen up
reopen: open again, re open
add: append, attach to, insert
sync: synchronise, bring into sync, bring in sync, bring in line, re sync, resync
archive: file away, put into the archive, move to the archive
back-up: back up, make a backup of, take a backup of
restore: recover from backup, bring back
import: load, load in, bring in, ingest
summarise: sum up, recap, condense, give a summary of, write a summary of, prepare a summary of, produce a summary of, make a summary of, create a summary of, provide a summary of, give an overview of, provide an overview of, put together a summary of
analyse: do an analysis of, run an analysis of, perform an analysis of, carry out an analysis of, conduct an analysis of, make an analysis of
forecast: predict, project, make a forecast of, prepare a forecast of, produce a forecast of
estimate: give an estimate of, make an estimate of, guess at
track: monitor, watch, keep track of, keep an eye on, keep tabs on
report: report back
score: grade, rate, give a score to, work out the score of, calculate the score for, calculate the score of, calculate a score for
rank: put in order, order by
segment: subdivide
classify: categorise, sort into categories, put into categories
triage: perform triage on, do the triage of
prioritise: give priority to, put at the top of the list
translate: render into
publish: post, put online, make public
acknowledge: confirm receipt of, acknowledge receipt of, give acknowledgement of, send an acknowledgement of, send an acknowledgement for, send acknowledgement of
reply: respond, answer, get back, write back, reply to, respond to, answer to
remind: nudge, send a reminder to, give a reminder to
follow-up: follow up, follow up on, follow up with
invite: send an invitation to
onboard: on board, bring on board
offboard: off board
hire: recruit
interview: hold an interview with
train: give training to
deploy: roll out, push out
order: place an order for, put in an order for
purchase: buy, procure, acquire
request: ask for, put in a request for, make a request for, submit a request for, raise a request for
investigate: look into, dig into, probe, get to the bottom of, carry out an investigation into, conduct an investigation into
audit: carry out an audit of, perform an audit of, conduct an audit of, do an audit of
negotiate: hold negotiations on
redact: black out
convert: turn into
rotate: cycle
scan: sweep
print: print out
use: utilise, make use of
sort: arrange in order
waive: forgo
increase: bump up, step up
reduce: decrease, cut, cut down, bring down, cut back
enrol: sign up
apologise: send an apology to, make an apology to, say sorry to, offer an apology to, extend an apology to
accept: agree to
count: count up, tally, work out the number of, tell me how many, how many, work out how many, find out how many, calculate how many, determine how many
copy: duplicate, replicate
attach: enclose
call: phone, ring, give a call to, ring up, call up
contact: reach out to, get in touch with, make contact with
meet: hold a meeting with
`;

/** Actions that have no other word. */
export const PLAIN_ACTIONS = `
migrate quarantine whitelist blacklist encrypt decrypt uninstall reinstall relocate reassign rewrite rebuild redraft unassign unbook
unflag unsubscribe subscribe opt renegotiate depreciate amortise accrue capitalise dispute contest appeal retire redeem
recall ship pack unload calibrate repair clean mount unmount clone shred sample survey poll coach mentor promote
demote relieve dismiss destroy restock reorder requisition redirect unlink link map tokenise anonymise
release configure sell offer notarise benchmark apply discard share recover measure install patch upgrade downgrade post adjust withhold hold
ignore vote visit filter deduct compensate rename document correct collect return grant cover wait
raise give award wire move shift substitute swap exchange execute conduct do undertake countersign file lodge shut register record present provide
supply display obtain dump prepare provision establish assemble construct fix lock bar unlock set amend change alter book rebook mark tag bounce
block unblock transfer submit download upload replace save
complete finalise mail deliver store chase freeze enlist
`;

/** Nouns that are written as the actions are: actions behind "and" or "to" only where an article or a value follows. */
export const NOUN_LIKE = `
increase raise decrease cut offer report list record note register file document mark flag tag order purchase request process action review test check match pair
pool split fix address pay wire move transfer route channel direct sign end stop start launch close open post release score grade
rate rank segment patch invoice charge credit debit refund book plan schedule update change edit log email mail message alert notice
audit scan print use cover share call ring phone contact visit vote meet hold save count copy back estimate forecast project summary
answer reply transfer bill cost budget account access import export download upload track watch trigger order export query supply
show display finish return total balance claim issue reset sort filter measure total train interview hire offer deal work
`;
