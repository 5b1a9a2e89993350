/* Placet's protocol as a model for Spin: one run, two calls, two workers, people, an operator and the clock.

   Call 0 needs two people, and its arguments may be edited once; call 1 is allowed, held for one person, or refused by
   policy. Their tools are of any two of three effect classes. A block marked atomic is one transaction (or one look at
   the database); between two of them a worker may stand still for as long as it likes, be overtaken, or be killed. The
   names of states are those of the code, and every change of one is written `move(what, from, to)`: a test holds these
   moves against Run.MOVES, Call.MOVES and Approval.MOVES. What the code has and this model leaves out:

   left out: Run ready cancelled            (a worker ends the run: ready, in_progress, cancelled)
   left out: Run in_progress requires_action
   left out: Run in_progress parked         (what cannot be read or verified; parked is to failed as a twin)
   left out: Run suspended_approval cancelled
   left out: Run suspended_approval parked
   left out: Run requires_action ready
   left out: Run requires_action cancelled
   left out: Run requires_action parked
   left out: Run sleeping cancelled
   left out: Run sleeping parked
   left out: Run parked ready
   left out: Call cleared held              (asking again is a fresh approval of the same call)
   left out: Call executing held            (the same, after a sending that did nothing)
   left out: Approval pending superseded

   `broken` names what a mutant lacks; 0 is the protocol as it is. Each is found by an assertion (tests/model). */

#define NO_CAS          1   /* a verdict is written without looking whether the approval is still pending */
#define COUNT_FIRST     2   /* votes are counted before the approval is locked */
#define VOTES_SURVIVE   3   /* an edit does not void the votes on what was there before */
#define ANY_REVISION    4   /* a vote counts for whatever revision is there when it arrives */
#define NO_FENCE        5   /* writes do not prove the lease */
#define NO_HEAD         6   /* an append does not say what it follows */
#define BLIND_RESEND    7   /* after a crash every call is sent again, whatever its tool */
#define NO_QUIET        8   /* "send again" does not wait for the deadline of earlier sendings */
#define NO_DEADLINE     9   /* a worker that wakes up sends, however late it is */
#define NO_OBEY        10   /* an intent does not look at the wish to cancel */
#define NO_POKES       11   /* suspending does not look whether a decision came meanwhile */
#define NO_HOLD        12   /* a call is sent without a hold on the budget */
#define FORGET_HOLD    13   /* taking over an attempt does not settle its hold */
#define ANY_ATTEMPT    14   /* a late answer settles whichever attempt is there */
#define NO_CLAIM_CAS   15   /* the intent does not look whether the call is still cleared */
#define LEAVE_OPEN     16   /* cancelling ends the run and leaves its approvals open */
#define STEP_EARLY     17   /* a step is taken while a call has no result */
#define NO_TAKE_OVER   18   /* nobody takes a run whose worker has died */
#define GIVE_UP        19   /* after a crash nothing is sent again, whatever its tool */
#define NO_WAKE        20   /* an approval that ends does not wake its run */
#define FORGET_LOST    21   /* what cannot be sent again has failed, though an earlier sending may have arrived */
#define NO_CLEARANCE   22   /* an intent believes the call's row, which somebody has forged */
#define ASSUME_DONE    23   /* no answer is taken for a yes */
#define EXPIRE_ANY     24   /* a deadline ends a call whatever became of it meanwhile */

c_decl {
    static int given(char *name) { char *text = getenv(name); return text ? atoi(text) : 0; }
}

#define none 0
mtype = { ready, in_progress, suspended_approval, sleeping, completed, failed, cancelled,
          proposed, held, cleared, refused, answered, expired, executing, executed, unknown,
          pending, approved, rejected };
mtype = { unsafe, keyed, lookup, unsent };

/* What may happen in a scene beside the plain way: the sum of these, in the environment's SCENE. */
#define EDITS    1          /* call 0 is edited */
#define CANCELS  2          /* the run is cancelled */
#define STUMBLES 4          /* the agent raises; a worker gives the run back with work left */
#define REFUSALS 8          /* at dispatch a right is gone; the tool refuses */
#define SECOND  16          /* call 1 is allowed or held, in place of refused at once */
#define TIGHT   32          /* the budget is two sendings, and a person has to raise it */
#define EXPIRY  64          /* approvals expire */
#define FREE   128          /* call 0 is allowed outright */

hidden byte broken, scene, claims;  /* claims: how often the run may be claimed; bounds crashes and take-overs */
#define may(what) (scene & what)
mtype Run = ready;
mtype Call[2];
mtype Approval[5];          /* 0, 1: of the calls; 2, 3: of their outcomes; 4: of the budget */
#define OUTCOME(c) (2 + c)
#define BUDGET 4

byte fence;                 /* of the run; it grows with every claim, so it also counts them */
bit head;                   /* its last checkpoint: odd or even is enough to tell what follows it from what does not */
bool poked, wish;           /* since the lease holder last looked: something happened; it is to be cancelled */
mtype tool[2];              /* effect classes */
byte by[2];                 /* which attempt counts, named by the fence that made it */
bool again[2], lost[2];     /* a person has had it sent again; an earlier sending was never answered */
byte sending[2];            /* per worker: the call, plus one, that it may send until its deadline */
bool effect[2], refusal[2]; /* what the world saw; a tool that honours our key and refuses it once refuses it always */
byte revision = 1, said[2]; /* of call 0: its revision, and on which revision each person said yes */
byte cap = 9, used, holds;  /* the budget, one unit for each sending */
bool holding[2];

#define owner (fence == my && Run == in_progress)
#define unfenced (broken == NO_FENCE)
#define quiet(c) (sending[0] != c + 1 && sending[1] != c + 1)
#define ended(c) (Call[c] != none && Call[c] != held && Call[c] != cleared && Call[c] != executing && Call[c] != unknown)
#define yes(p) (said[p] == revision || (broken == VOTES_SURVIVE && said[p] > 0))
#define both (yes(0) && yes(1))

/* What must hold, where it can be broken. Spin names a broken law by its number. */
#define ONE_VERDICT        1   /* an approval is settled once, while it is pending */
#define VOTES_ARE_COUNTED  2   /* never all votes in and still pending */
#define BYTES_ARE_APPROVED 3   /* every needed person said yes to just the revision that may run */
#define DECIDED_BEFORE     4   /* nothing is sent that was not approved, or allowed outright */
#define ONE_EFFECT         5   /* a tool that does not know our keys is never used twice for one call */
#define NEVER_SENT         6   /* refused, answered, expired, cancelled: the world saw nothing of it */
#define DONE_IS_DONE       7   /* executed: it happened */
#define ONE_LINE           8   /* a checkpoint is written by whoever holds the lease */
#define PROPOSED_ONCE      9   /* a step is committed once, whatever became of the acknowledgement */
#define RESULTS_ARE_IN    10   /* every call has a recorded end before the next step */
#define CANCEL_IS_OBEYED  11   /* no sending begins once the wish to cancel is committed */
#define WITHIN_THE_CAP    12   /* a hold is granted only under the cap */
#define EACH_HOLD_ONCE    13   /* each hold is settled or charged once */
#define KNOWN_IF_KEYED    14   /* the outcome of a keyed call is never given up */
#define NOTHING_IS_LOST   15   /* the run ends, or an approval is open */
#define NO_LOST_WAKE      16   /* a run that waits for people waits for something that is open */
#define NOBODY_IS_ASKED   17   /* nothing of a run that has ended is open */
#define FAILED_IS_FAILED  18   /* the tool refused it: it did not happen */
#define MOVES_AS_LISTED   19   /* a status changes only from where the move begins */

#define law(number, what)    assert((what) || number == 0)
#define one_verdict(c)       law(ONE_VERDICT, Approval[c] == pending)
#define votes_are_counted    law(VOTES_ARE_COUNTED, !(Approval[0] == pending && both))
#define bytes_are_approved   law(BYTES_ARE_APPROVED, said[0] == revision && said[1] == revision)
#define decided_before(c)    law(DECIDED_BEFORE, Approval[c] == approved || Approval[c] == none && (c == 1 || may(FREE)))
#define one_effect(c)        law(ONE_EFFECT, !effect[c])
#define never_sent(c)        law(NEVER_SENT, !effect[c] && (again[c] || !by[c]))
#define done_is_done(c)      law(DONE_IS_DONE, effect[c])
#define failed_is_failed(c)  law(FAILED_IS_FAILED, !effect[c])
#define history_is_one_line  law(ONE_LINE, fence == my)
#define proposed_once        law(PROPOSED_ONCE, Call[0] == none)
#define results_are_in       law(RESULTS_ARE_IN, ended(0) && ended(1))
#define cancel_is_obeyed     law(CANCEL_IS_OBEYED, !wish)
#define within_the_cap       law(WITHIN_THE_CAP, used + holds <= cap)
#define each_hold_once       law(EACH_HOLD_ONCE, holds == holding[0] + holding[1])
#define known_if_keyed(c)    law(KNOWN_IF_KEYED, tool[c] != keyed || wish)
#define asked                (Approval[0] == pending || Approval[1] == pending || Approval[2] == pending || \
                              Approval[3] == pending || Approval[4] == pending)
#define nothing_is_lost      law(NOTHING_IS_LOST, Run == completed || Run == cancelled || fence == claims || asked)
#define no_lost_wake         law(NO_LOST_WAKE, Run != suspended_approval || asked)
#define nobody_is_asked      law(NOBODY_IS_ASKED, (Run != completed && Run != cancelled) || !asked)
#define move(what, from, to) law(MOVES_AS_LISTED, what == from || broken); what = to

/* Something of the run was settled from outside: the same commit wakes it. */
inline poke() {
    poked = true;
    if
    :: Run == suspended_approval && broken != NO_WAKE -> move(Run, suspended_approval, ready)
    :: Run == sleeping -> move(Run, sleeping, ready)
    :: else
    fi
}

/* An approval has ended: its votes are history, and forgotten here, so that there are fewer states. */
inline settled_votes() { said[0] = 0; said[1] = 0; revision = 1; poke() }

/* The next checkpoint. */
inline append() { history_is_one_line; head = 1 - head }

/* A hold on the budget, and its end: spent, or given back. */
inline take_hold() {
    if :: broken != NO_HOLD || used + holds < cap :: else fi;
    holds++; holding[c] = true; within_the_cap; each_hold_once
}
inline end_hold(spent) {
    if
    :: holding[c] && broken != FORGET_HOLD -> holds--; used = used + spent; holding[c] = false
    :: holding[c] && broken == FORGET_HOLD -> holding[c] = false
    :: else
    fi;
    each_hold_once
}

/* Everything that is still asked is withdrawn. */
inline withdraw() {
    if :: Approval[0] == pending -> move(Approval[0], pending, cancelled); move(Call[0], held, cancelled); settled_votes() :: else fi;
    if :: Approval[1] == pending -> move(Approval[1], pending, cancelled); move(Call[1], held, cancelled); poke() :: else fi;
    if :: Approval[2] == pending -> move(Approval[2], pending, cancelled); poke() :: else fi;
    if :: Approval[3] == pending -> move(Approval[3], pending, cancelled); poke() :: else fi;
    if :: Approval[4] == pending -> move(Approval[4], pending, cancelled); poke() :: else fi
}

/* The run ends: what was not sent is cancelled, and of what was sent nobody knows. */
inline end_call() {
    if
    :: Call[c] == held -> move(Call[c], held, cancelled); never_sent(c)
    :: Call[c] == cleared -> move(Call[c], cleared, cancelled); never_sent(c)
    :: Call[c] == executing -> end_hold(1); move(Call[c], executing, unknown)
    :: else
    fi
}

proctype worker(byte w) {
    byte my, c, seen;
    mtype got;
idle:
    my = 0; c = 0; seen = 0; got = none; sending[w] = 0;
    atomic {
        fence < claims && (Run == ready || (Run == in_progress && broken != NO_TAKE_OVER)) ->
        fence++; my = fence; poked = false;
        if :: Run == ready -> move(Run, ready, in_progress) :: else fi
    }
look:
    atomic {
        got = none;
        if
        :: !owner && !unfenced -> goto idle
        :: owner && may(STUMBLES) -> move(Run, in_progress, ready); goto idle                 /* its slice of work is over */
        :: (owner || unfenced) && wish -> goto ending
        :: (owner || unfenced) && !wish ->
            seen = head; got = (Call[0] == none -> proposed : completed);
            if
            :: Call[0] == cleared || Call[0] == executing -> c = 0; goto intent
            :: Call[1] == cleared || Call[1] == executing -> c = 1; goto intent
            :: else
            fi;
            if
            :: Call[0] == unknown && Approval[OUTCOME(0)] != pending -> c = 0; goto ask
            :: Call[1] == unknown && Approval[OUTCOME(1)] != pending -> c = 1; goto ask
            :: else
            fi;
            if
            :: broken != STEP_EARLY && Call[0] != none && !(ended(0) && ended(1)) -> goto suspend
            :: else -> goto step
            fi
        fi
    }

step:
    atomic {
        if
        :: head != seen && broken != NO_HEAD -> goto look                    /* its acknowledgement was lost; it landed */
        :: (head == seen || broken == NO_HEAD) && !owner && !unfenced -> goto idle
        :: (head == seen || broken == NO_HEAD) && (owner || unfenced) && wish -> goto ending
        :: (head == seen || broken == NO_HEAD) && (owner || unfenced) && !wish && got == proposed ->
            append(); proposed_once;
            Call[0] = proposed; Call[1] = proposed;
            if
            :: !may(FREE) -> move(Call[0], proposed, held); Approval[0] = pending
            :: may(FREE) -> move(Call[0], proposed, cleared)
            fi;
            if
            :: may(SECOND) -> move(Call[1], proposed, held); Approval[1] = pending
            :: may(SECOND) -> move(Call[1], proposed, cleared)
            :: !may(SECOND) -> move(Call[1], proposed, refused)
            fi;
            if
            :: Call[0] == cleared || Call[1] == cleared
            :: else -> move(Run, in_progress, suspended_approval)
            fi
        :: (head == seen || broken == NO_HEAD) && (owner || unfenced) && !wish && got == completed ->
            append(); results_are_in;
            if
            :: move(Run, in_progress, completed); nobody_is_asked
            :: may(STUMBLES) -> move(Run, in_progress, failed)                        /* the agent raised */
            fi
        fi
    }
    if
    :: goto step                                                             /* no acknowledgement came: once more */
    :: goto look
    fi;

suspend:
    atomic {
        if
        :: !owner -> goto idle
        :: owner && poked && broken != NO_POKES -> poked = false; goto look
        :: owner && (!poked || broken == NO_POKES) -> move(Run, in_progress, suspended_approval); goto idle
        fi
    }

ask:                                                                         /* a person has to say what happened */
    atomic {
        if
        :: !owner -> goto idle
        :: owner && Call[c] != unknown -> goto look
        :: owner && Call[c] == unknown -> Approval[OUTCOME(c)] = pending; move(Run, in_progress, suspended_approval); goto idle
        fi
    }

intent:
    atomic {
        if
        :: !owner && !unfenced -> goto idle
        :: (owner || unfenced) && wish && broken != NO_OBEY -> goto ending
        :: (owner || unfenced) && (!wish || broken == NO_OBEY) ->
            if
            :: Call[c] == cleared || broken == NO_CLAIM_CAS ->
                if
                :: may(REFUSALS) -> move(Call[c], cleared, refused); never_sent(c); goto look /* a right or a policy has changed */
                :: used + holds >= cap && broken != NO_HOLD -> goto broke
                :: used + holds < cap || broken == NO_HOLD ->
                    cancel_is_obeyed; take_hold(); move(Call[c], cleared, executing)
                fi
            :: Call[c] == executing && by[c] != my ->                        /* its sender was overtaken */
                if
                :: (tool[c] == keyed && broken != GIVE_UP) || broken == BLIND_RESEND || (tool[c] == lookup && !effect[c] && quiet(c)) ->
                    end_hold(1);
                    if
                    :: used + holds >= cap && broken != NO_HOLD -> holding[c] = true; holds++; used--; goto broke
                    :: used + holds < cap || broken == NO_HOLD -> cancel_is_obeyed; take_hold()
                    fi;
                    lost[c] = true
                :: tool[c] == lookup && effect[c] ->                         /* found: it happened */
                    end_hold(1); append(); move(Call[c], executing, executed); goto look
                :: tool[c] == lookup && !effect[c] && !quiet(c) -> goto nap      /* not found, and may still arrive */
                :: tool[c] == unsafe || (tool[c] == lookup && may(REFUSALS)) || broken == GIVE_UP ->
                    end_hold(1); known_if_keyed(c); move(Call[c], executing, unknown); goto look
                fi
            :: else -> goto look
            fi;
            by[c] = my; sending[w] = c + 1
        fi
    }

    if                                                                       /* the sending: no transaction */
    :: goto idle
    :: atomic {
        (sending[w] == c + 1 || broken == NO_DEADLINE) && !(tool[c] == keyed && refusal[c]) ->
        decided_before(c);
        if :: tool[c] == keyed :: else -> one_effect(c) fi;                  /* a provider drops what has a known key */
        effect[c] = true; sending[w] = 0; got = executed }
    :: atomic { sending[w] == c + 1 && may(REFUSALS) && !(tool[c] == keyed && effect[c]) ->
        refusal[c] = true; sending[w] = 0; got = failed }        /* refused before it had an effect */
    :: atomic { sending[w] == 0 -> got = unsent }                            /* it woke up after the deadline */
    fi;

    atomic {                                                                 /* the result */
        if
        :: goto idle
        :: (owner || unfenced) && Call[c] == executing && (by[c] == my || broken == ANY_ATTEMPT) ->
            append();
            if
            :: got == executed || (got == unsent && broken == ASSUME_DONE) -> end_hold(1); move(Call[c], executing, executed); done_is_done(c)
            :: got == unsent && lost[c] && broken != FORGET_LOST -> end_hold(0); move(Call[c], executing, unknown)
            :: got == failed || (got == unsent && (!lost[c] || broken == FORGET_LOST)) ->
                end_hold(0); move(Call[c], executing, failed); failed_is_failed(c)
            fi;
            goto look
        :: !(owner || unfenced) && got != unsent && (by[c] == my || broken == ANY_ATTEMPT) && Call[c] == executing ->
            end_hold(1); poke();                                             /* late: the truth about this attempt */
            if
            :: Approval[BUDGET] == pending && broken != LEAVE_OPEN ->        /* asked for a sending that is not needed now */
                move(Approval[BUDGET], pending, cancelled)
            :: else
            fi;
            if
            :: got == executed -> move(Call[c], executing, executed); done_is_done(c)
            :: else -> move(Call[c], executing, failed); failed_is_failed(c)
            fi
        :: !(owner || unfenced) && got != unsent && (by[c] == my || broken == ANY_ATTEMPT) && Call[c] == unknown ->
            if :: Approval[OUTCOME(c)] == pending -> move(Approval[OUTCOME(c)], pending, cancelled) :: else fi;
            poke();
            if
            :: got == executed -> move(Call[c], unknown, executed); done_is_done(c)
            :: else -> move(Call[c], unknown, failed); failed_is_failed(c)
            fi
        :: else
        fi;
        goto idle
    }

nap:                                                                         /* until it is quiet */
    atomic {
        if
        :: !owner -> goto idle
        :: owner && poked -> poked = false; goto look
        :: owner && !poked -> move(Run, in_progress, sleeping); goto idle
        fi
    }

broke:                                                                       /* at the cap a person is asked */
    atomic {
        if
        :: !owner -> goto idle
        :: owner -> Approval[BUDGET] = pending; move(Run, in_progress, suspended_approval); goto idle
        fi
    }

ending:
    atomic { if :: !owner -> goto idle :: owner && broken != LEAVE_OPEN -> withdraw() :: owner && broken == LEAVE_OPEN fi };
    atomic {
        if
        :: !owner -> goto idle
        :: owner -> c = 0; end_call(); c = 1; end_call(); move(Run, in_progress, cancelled); nobody_is_asked; goto idle
        fi
    }
}

/* One of two people: reads call 0, and then decides about what was read, if that is still what is asked. */
proctype person(byte p) {
    byte seen, votes;
    do
    :: atomic { Approval[0] == pending && !yes(p) && broken != NO_CLEARANCE -> seen = revision; votes = yes(0) + yes(1) }
       atomic {
           if
           :: (Approval[0] == pending && (revision == seen || broken == ANY_REVISION)) || broken == NO_CAS ->
               if
               :: one_verdict(0); move(Approval[0], pending, rejected); move(Call[0], held, refused); settled_votes()
               :: one_verdict(0); move(Approval[0], pending, answered); move(Call[0], held, answered); settled_votes()
               ::  if                                                       /* yes; to an edit of her own, it may be */
                   :: revision == 1 && may(EDITS) -> revision = 2; said[p] = 2
                   :: said[p] = (broken == ANY_REVISION -> seen : revision)
                   fi;
                   if
                   :: (broken == COUNT_FIRST && votes == 1) || (broken == ANY_REVISION && said[0] && said[1]) ||
                      (broken != COUNT_FIRST && both) ->
                       one_verdict(0); bytes_are_approved;
                       move(Approval[0], pending, approved); move(Call[0], held, cleared); settled_votes()
                   :: else
                   fi;
                   votes_are_counted
               fi
           :: else                                                             /* too late, and told so */
           fi
       }
    od
}

/* The one person whom call 1 needs. */
proctype somebody() {
    atomic {
        Approval[1] == pending ->
        if
        :: move(Approval[1], pending, approved); move(Call[1], held, cleared)
        :: move(Approval[1], pending, rejected); move(Call[1], held, refused)
        fi;
        poke()
    }
}

/* Who may operate the agent: says what came of a call, raises the budget, lets a failed run go on, ends the run. */
inline say_what_happened(c) {
    if
    :: effect[c] -> move(Approval[OUTCOME(c)], pending, approved); move(Call[c], unknown, executed); done_is_done(c)
    :: !effect[c] && !again[c] && (quiet(c) || broken == NO_QUIET) ->
        move(Approval[OUTCOME(c)], pending, approved); move(Call[c], unknown, cleared); again[c] = true
    :: move(Approval[OUTCOME(c)], pending, approved); move(Call[c], unknown, failed)
    fi;
    Approval[OUTCOME(c)] = none; poke()
}

proctype operator() {
    do
    :: atomic { Approval[OUTCOME(0)] == pending -> say_what_happened(0) }
    :: atomic { Approval[OUTCOME(1)] == pending -> say_what_happened(1) }
    :: atomic {
        Approval[BUDGET] == pending ->
        if
        :: move(Approval[BUDGET], pending, approved); cap++; Approval[BUDGET] = none; poke()
        :: move(Approval[BUDGET], pending, rejected); wish = true; Approval[BUDGET] = none; poke()
        fi }
    :: atomic { Run == failed -> move(Run, failed, ready) }
    :: atomic {
        may(CANCELS) && !wish && Run != completed && Run != cancelled -> wish = true;
        if
        :: Run == suspended_approval -> move(Run, suspended_approval, ready)
        :: Run == sleeping -> move(Run, sleeping, ready)
        :: Run == failed -> move(Run, failed, ready)
        :: else
        fi }
       atomic { if :: broken != LEAVE_OPEN -> withdraw() :: else fi }
    od
}

/* Deadlines pass, of approvals and of sendings; who slept until then wakes up. */
proctype clock() {
    do
    :: atomic { may(EXPIRY) && Approval[0] == pending -> move(Approval[0], pending, expired); move(Call[0], held, expired); never_sent(0); settled_votes() }
    :: atomic { may(EXPIRY) && Approval[1] == pending -> move(Approval[1], pending, expired); move(Call[1], held, expired); never_sent(1); poke() }
    :: atomic { broken == NO_CLEARANCE && Call[0] == held -> Call[0] = cleared }
    :: atomic { broken == EXPIRE_ANY && Approval[0] == approved && Call[0] != expired -> Call[0] = expired; never_sent(0) }
    :: atomic { sending[0] -> sending[0] = 0 }
    :: atomic { sending[1] -> sending[1] = 0 }
    :: atomic { Run == sleeping && !sending[0] && !sending[1] -> move(Run, sleeping, ready) }
    od
}

/* When nothing more can happen. What it may witness is no fault: each has to be found, or "ok" would say little. */
#define BOTH_HAPPENED         1
#define SENT_AGAIN            2
#define CAP_RAISED            3
#define ABANDONED_IT_HAPPENED 4   /* a person said "it did not", and was wrong: the honest residue */
#define HAPPENED_UNKNOWN      5
#define UNKNOWN               6
#define CANCELLED_HALFWAY     7
hidden byte witness;

proctype judge() {
    timeout;
    nothing_is_lost; no_lost_wake; nobody_is_asked;
    if
    :: Run == completed && effect[0] && effect[1] -> witness = BOTH_HAPPENED
    :: Run == completed && Call[0] == executed && again[0] -> witness = SENT_AGAIN
    :: Run == completed && used > 2 -> witness = CAP_RAISED
    :: Run == completed && Call[0] == failed && effect[0] -> witness = ABANDONED_IT_HAPPENED
    :: Run == cancelled && Call[0] == unknown && effect[0] -> witness = HAPPENED_UNKNOWN
    :: Run == cancelled && Call[0] == unknown && !effect[0] -> witness = UNKNOWN
    :: Run == cancelled && Call[0] == executed && Call[1] == cancelled -> witness = CANCELLED_HALFWAY
    :: else
    fi
}

init {
    c_code { broken = given("BROKEN"); scene = given("SCENE"); claims = given("CLAIMS"); };
    atomic {
        if
        :: tool[0] = unsafe; tool[1] = keyed
        :: tool[0] = keyed; tool[1] = lookup
        :: tool[0] = lookup; tool[1] = unsafe
        fi;
        if :: may(TIGHT) -> cap = 2 :: else fi;
        run worker(0); run worker(1); run person(0); run person(1); run somebody(); run operator(); run clock(); run judge()
    }
}
