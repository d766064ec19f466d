/** Words and phrases that say little, or that say how the others hang together. As they stand, not in base forms. */

/** Politeness, and frames around an instruction: they say nothing about what is wanted. */
export const COURTESIES = `
please; kindly; thanks; thank you; many thanks; thanks a lot; thank you very much; thanks in advance; thank you in advance; cheers;
hi; hello; hey; hi there; hello there; hi team; hello team; dear team; dear all; hi all; hello all; good morning; good afternoon;
good evening; regards; best regards; kind regards; best wishes; sincerely; yours sincerely; if you please; if you would;
if you could; if you can; if you do not mind; if you don't mind; if possible; when you can; when you get a chance;
when you get a moment; when you have a moment; when you have time; at your convenience; at your earliest convenience; be so kind as to;
be so kind and; be kind enough to; would you mind; do you mind; would you; could you; can you; will you; could you please; can you please;
would you please; would you be able to; are you able to; could you possibly; would you kindly; could you kindly; you could; you can;
i need you to; we need you to; i want you to; we want you to; i would like you to; we would like you to; i'd like you to;
we'd like you to; i require you to; we require you to; you need to; you should; you must; you have to; you are to; you are asked to;
you are requested to; you will need to; you'll need to; your task is to; your job is to; the task is to; the job is to;
we have to; we need to; i need to; i have to; we must; i must; we should; we want to; i want to; we would like to; i would like to;
i'd like to; we'd like to; help me; help me to; help me with; help us; help us to; let us; let's; go ahead and; go and; make sure to;
make sure that you; make sure you; be sure to; be sure and; ensure that you; ensure you; remember to; do not forget to; do not fail to; don't fail to; don't forget to;
take a moment to; i was hoping you could; i was wondering if you could; i wonder if you could; we were wondering if you could;
it would be great if you could; it would be good if you could; it would be helpful if you could; i would appreciate it if you could;
i'd appreciate it if you could; we would appreciate it if you could; i would be grateful if you could;
i'd be grateful if you could; much appreciated; it is time to; it's time to; then; also; quickly; now; here; both;
as well; too; in addition; additionally; furthermore; moreover; finally; lastly; firstly; secondly; after that; afterwards; subsequently;
as usual; as always; as follows; the following; for me; for us; for our records; for my records; for your information; fyi; at hand;
in question; in order to; so as to; accordingly; in particular; specifically; namely; it is requested that you; it is necessary to;
this is a request to; let me know when done; let me know when it is done; let me know when it's done; let me know once done; let me know when you are done; let me know when you're done; tell me when done; this is to request that you; go on and; proceed to; proceed and; feel free to; we now need to; i now need to
`;

/** Relations: how what follows stands to the rest. Each with its words and phrases. */
export const RELATIONS = `
not: not; never; do not; does not; did not; don't; doesn't; didn't; cannot; can not; can't; won't; will not; shall not; shouldn't; should not; must not; mustn't; isn't; aren't; wasn't; weren't; hasn't; haven't; has not; have not; is not; are not; was not; were not; has not been; have not been; hasn't been; haven't been; that are not; who are not; which are not; that is not; that have not; who have not; which have not; that have not been; which have not been; who have not been; avoid; refrain from; under no circumstances; on no account; dont; doesnt; isnt; arent; cant; wont; by no means; not yet; has not yet been; have not yet been; is not yet; are not yet; hold off on; neither; nor
without: without; lacking; lack; lacks; missing; with no; that have no; who have no; which have no; that has no; which has no; who has no; that do not have; who do not have; which do not have; that does not have; which does not have; who does not have; that don't have; who don't have; which don't have; that lack; who lack; which lack; that are missing; which are missing; who are missing; that is missing; having no; has no; have no; do not have; does not have; don't have; doesn't have; that are without; who are without; which are without; that come without; where there is no; for which there is no; for lack of; in absence of; in the absence of; w/o; do not hold; who do not hold; that do not hold; which do not hold; with missing; not having; not covered by; that cannot show; who cannot show
no: no; none; nothing; nobody
except: except; except for; excluding; exclude; excludes; excluded; other than; apart from; aside from; but not; leaving out; leave out; save for; with the exception of; omitting; omit; all but; not including; not counting; do not include; don't include
only: only; just; solely; exclusively; merely; alone; none other than; limited to; restricted to
unless: unless; if not
if: if; in case; provided that; providing that; as long as; whether; whether or not; in the event that; on condition that; assuming; assuming that
if-any: if any; if applicable; where applicable; if necessary; where necessary; if needed; where needed; as needed; as necessary
when: when; as soon as; whenever; the moment
while: while; whilst
but: but; however; though; although; yet
despite: despite; in spite of; regardless of; irrespective of; even if; even though
because: because; due to; by reason of; as a result of; in view of; because of; owing to; on account of; on the grounds of
instead: instead; instead of; rather than; in place of; in lieu of; as opposed to
before: before; prior to; ahead of; earlier than
until: until; till; up until
after: after; once; later than; subsequent to
beyond: beyond
since: since; starting from; beginning with; from then on; onwards; onward
as-of: as of; as at; effective; with effect from; effective from
between: between; in between
over: over; above; longer than; more than; greater than; exceeding; exceed; exceeds; that exceed; which exceed; that exceeds; which exceeds; in excess of; higher than; larger than; bigger than; upwards of; that are over; which are over; that is over; that are above; which are above; that are more than; >
under: under; below; shorter than; less than; lower than; fewer than; smaller than; beneath; that are under; which are under; that is under; that are below; which are below; that are less than; <
at-least: at least; no less than; not less than; no fewer than; a minimum of; minimum of; >=
at-most: at most; no more than; not more than; up to; a maximum of; maximum of; <=; at the most; not exceeding
exactly: exactly; precisely; equal to; equals; =
about: about; approximately; approx; roughly; circa; ca
to: to; into; onto; towards; toward; over to; across to; through to
from: from; out of; originating from; originating in; held in; stored in; sourced from; coming from; drawn from; taken from
by: by; no later than; not later than; by no later than; per; for each; for every; broken down by; break down by; grouped by; group by; split by; split out by; in each; for each of; for each individual
against: against; versus; vs; compared to; compared with; in comparison to; in comparison with; relative to
cc: cc; copying in; copy in; with copy to; with a copy to; copied to; in copy; cc'd; cc'ing; cc to
bcc: bcc; blind copy; blind copying
on-behalf: on behalf of; in the name of; acting for
to-be: to be; being; due to be; about to be; need to be; needs to be; should be; must be; have to be; has to be; is to be; are to be; that need to be; that needs to be; which need to be; that should be; that must be; ought to be; want to be
will: will; shall; going to; about to; set to; will be; going to be
would: would
may: may; might; may be; might be
can: can; could; can be; could be
should: should
must: must; has to; have to; need to; needs to; required to
or: or; either; and/or; alternatively
still: still; so far
again: again; once more; once again; anew; afresh
as: as
like: like; such as; similar to
than: than
some: some; several; a few; a couple of; certain; various; a number of; a handful of; some of
most: most; most of; the majority of; majority of
first: first; initial
last: last; previous; prior; past; preceding
next: next; upcoming; forthcoming; coming
other: other; others; another; else
same: same; identical
very: very; extremely; highly; especially
`;

/** Relations that follow the number they belong to: "5 or more". */
export const TRAILING = `
at-least: or more; and above; and over; or over; or above; or higher; or greater; and up; minimum; upwards
at-most: or less; or fewer; and below; or under; or below; or lower; maximum
`;

/** Relations that only join a thing to what it belongs to: they are left out. */
export const WEAK = `
via; through; by means of; by way of; with the help of; using; with the use of; by using; making use of;
of; for; in; on; at; with; within; during; regarding; concerning; with regard to; with regards to; with respect to; in respect of; as regards; re;
in relation to; related to; relating to; pertaining to; associated with; belonging to; corresponding to; that belong to; which belong to;
that relate to; which relate to; in connection with; in terms of; in the case of; for the purpose of; on the basis of; based on; according to;
in accordance with; in line with; under the terms of; as per; covering; that covers; which covers; that cover; which cover; dated; made in;
among; amongst; across; throughout; inside; upon; along with; together with; as well as; plus; including; include; includes; inclusive of;
that include; which include; that includes; which includes; incl; comprising; containing; contain; contains; that contain; which contain; featuring; that have; who have; which have;
that has; which has; who has; having; have; has; had; for the attention of; under reference; with reference; with reference to; reference; ref;
applicable to; that applies to; relevant to; in respect to; over the course of; in the course of; made out to; known as; called; named; entitled;
titled; with the title; by the name of; under the name; with the name; with the id; with id; with number; with the number; bearing the number;
numbered; with the subject; valued at; worth; in the amount of; to the amount of; totalling; totaling; to the value of; with a value of;
amounting to; that amounts to; at a value of; with a total of; for a total of; in the sum of; that falls in; which falls in; falling in; found in; inside of
`;

/** Articles, pronouns, auxiliaries. */
export const STOPS = `
a an the this that these those it its they them their theirs he she his her hers him i me my mine we us our ours you your yours who whom whose
which what there is are s i've we've you've they've i'm we're you're they're it's that's there's who's who've was were be been am do does did so such one ones own
`;

/** Words that stand before a thing: a word before them that may be a verb is one. */
export const DETERMINERS = `
a an the this that these those its their our your my his her all any each every some no which whose them it
`;

/** Words that say little beside others: one text may have them and the other not. */
export const LIGHT = `
record data information info detail figure list listing register all every each any entire whole relevant respective corresponding format
`;

/** Qualities: they stand behind a thing as well as before it, and are never what an instruction is about. */
export const ADJECTIVES = `
older newer larger smaller bigger longer shorter
actual active inactive open closed overdue outstanding unpaid pending valid invalid due new old current former latest oldest high low higher lower
big small large urgent monthly quarterly weekly annual daily nightly free-of-charge total net gross approved duplicate available late early ready recent blank
empty permanent temporary internal external local global regional national domestic foreign automatic manual final main primary secondary
eligible ineligible critical medium confidential public private important senior junior high-value biggest smallest failed finished
remaining full complete overall required standard regular normal usual existing specific particular necessary individual additional extra
`;
