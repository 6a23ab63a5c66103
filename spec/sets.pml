/* Sets: switchyard.add_members, seal_set, join_again and settle_set, run by two conductors. A set has one member; a feeder adds
 * another one, somebody seals the set, both members end, and the first is retriggered.
 *
 * A transaction takes its row locks as it goes and is visible at its commit, in one step; the notification follows. The first
 * settler may be killed once, between any two steps: its transaction is rolled back, and another one looks. There is no poll,
 * which would hide a lost wake-up. A settler that finds the set locked passes it by. That the bell is cleared before the look is
 * the business of waiting.pml.
 *
 * Checked: a run of the set ends once; at that moment the set is sealed, no member is open, and the ends of all members are
 * counted; no member is added to a set that is sealed or has ended; and once nothing else happens, no set is open while all
 * that settle sleep.
 */
#define NONE 2
#define FEEDER 10
#define RETRIGGER 11

bool yard[2];                   /* the member has a row in the yard */
bool marked[2];                 /* yard.watched */
byte locked[2];                 /* its row lock: 0 is free */

byte added = 1, ends = 0;       /* tally */
byte set_lock = 0;              /* the lock of the row in sets: 0 is free */
bool sealed;
bool open = true;               /* the set has not ended in this run */
byte watching = NONE;
bool rung[2];
bool asleep[2];
byte work = 4;                  /* what may still happen: an end, the feeder, the seal, a retrigger */

inline ring() {
  rung[0] = true; rung[1] = true
}

proctype ender(byte member) {
  bool rings;
delete_row:
  atomic { locked[member] == 0 -> locked[member] = 20 + member; rings = marked[member] };
#ifdef TALLY_IS_AHEAD
  ends++;
#endif
commit:                         /* with its line in tally */
  atomic {
    yard[member] = false; marked[member] = false; locked[member] = 0;
#ifndef TALLY_IS_AHEAD
    ends++
#endif
  };
notify:
  atomic {
    if
    :: rings -> ring()
    :: else
    fi;
    work--
  }
}

proctype feeder() {
  atomic {                      /* switchyard.add_members: FOR SHARE, and not sealed when the lock was got */
    if
    :: set_lock == 0 && !sealed -> set_lock = FEEDER
    :: sealed && set_lock == 0 -> work--; goto refused
    fi
  };
commit:
  atomic {
    assert(!sealed && open);
    added++; yard[1] = true; set_lock = 0;
    run ender(1)                /* its end is what still may happen */
  };
refused:
  skip
}

proctype sealer() {             /* switchyard.seal_set waits for whoever is adding members */
#ifdef SEAL_PASSES_ADDING
  atomic { set_lock == 0 || set_lock == FEEDER -> sealed = true };
#else
  atomic { set_lock == 0 -> sealed = true };
#endif
  atomic {
#ifndef SEAL_DOES_NOT_RING
    ring();
#endif
    work--
  }
}

proctype retrigger() {          /* of the first member: switchyard.join_again; the new row has no mark */
  if
  :: !yard[0] ->
#ifndef RETRIGGER_PASSES_SET
    atomic { set_lock == 0 -> set_lock = RETRIGGER };
#endif
    atomic {
      yard[0] = true; ends--;
      if
      :: !open -> open = true; watching = NONE
      :: else
      fi;
#ifndef RETRIGGER_PASSES_SET
      set_lock = 0;
#endif
      work++; run ender(0)
    };
    atomic { ring(); work-- }
  :: work--
  fi
}

#ifdef A_ROW_IS_A_MARK
#define watched(member) (yard[member])
#else
#define watched(member) (yard[member] && marked[member])
#endif
#ifdef SEAL_NOT_ASKED
#define may_end true
#else
#define may_end sealed
#endif

inline rollback() {
  if
  :: set_lock == me + 1 -> set_lock = 0
  :: else
  fi;
  for (member : 0 .. 1) {
    if
    :: locked[member] == me + 1 -> locked[member] = 0
    :: else
    fi
  }
}

inline may_be_killed() {
  if
  :: !killed -> atomic { killed = true; rollback() }; goto look
  :: skip
  fi
}

proctype settler(byte me) {
  byte member, pick;
  bool killed = me;
look:
  atomic {                      /* switchyard.settle_sets: due, and its row locked, or passed by */
    rung[me] || !asleep[me] -> member = 0; pick = NONE; rung[me] = false; asleep[me] = false;
    if
    :: open && may_end && (watching == NONE || !watched(watching)) && set_lock == 0 -> set_lock = me + 1
    :: else -> asleep[me] = true; goto end_asleep
    fi
  };
  atomic {                      /* switchyard.settle_set: by the tally, some are open */
    if
    :: added > ends ->
      if
      :: yard[1] && locked[1] == 0 -> pick = 1; locked[1] = me + 1
      :: !(yard[1] && locked[1] == 0) && yard[0] && locked[0] == 0 -> pick = 0; locked[0] = me + 1
#ifdef SKIPPED_IS_ENDED
      :: else -> goto end
#else
      :: else -> rollback(); goto look
#endif
      fi
    :: else
    fi
  };
  may_be_killed();
  if
  :: pick != NONE ->
    atomic { marked[pick] = true; watching = pick; locked[pick] = 0; set_lock = 0 };
    goto look
  :: else
  fi;
#ifndef TALLY_IS_AHEAD
  atomic {                      /* in one snapshot */
    if
    :: yard[0] || yard[1] || added != ends -> rollback(); goto look
    :: else
    fi
  };
#endif
  may_be_killed();
end:
  atomic {
    assert(open && sealed && !yard[0] && !yard[1] && added == ends);
    open = false;
    set_lock = 0
  };
  goto look;
end_asleep:
  rung[me] -> goto look
}

proctype observer() {
end_observer:
  atomic { work == 0 && open && asleep[0] && asleep[1] && !rung[0] && !rung[1] -> assert(false) }
}

init {
  atomic {
    yard[0] = true;
    run ender(0);
    run feeder();
    run sealer();
    run retrigger();
    run settler(0);
    run settler(1);
    run observer()
  }
}
