/* Actions that wait for others: switchyard.settle_waiting and switchyard.settle_one, run by SETTLERS conductors, against the
 * ends of two children, a retrigger of the first, and retention of the second.
 *
 * A transaction takes its row locks as it goes and is visible at its commit, in one step; the notification follows. The first
 * settler may be killed once, between any two steps: its transaction is rolled back, and another one looks. There is no poll, which would
 * hide a lost wake-up; that a bell is heard is the business of bell.pml.
 *
 * Checked: the waiter is released once; at the moment of the decision no child is open, and the end of each is known; and once
 * nothing else happens, no waiter is held while all that settle sleep.
 */
#define SETTLERS 2
#define NONE 2

bool yard[2] = true;            /* the child has a row in the yard */
bool marked[2];                 /* yard.watched */
byte locked[2];                 /* its row lock: 0 is free */
bool ended[2];                  /* its thread has ended */
bool dropped[2];                /* retention has dropped its thread */
bool taken[2];                  /* waiting.taken has its end */

bool held = true;               /* the waiter's row in waiting, and due = infinity */
byte waiting_lock = 0;
byte watching = NONE;
byte released = 0;
bool rung[SETTLERS];
bool asleep[SETTLERS];
byte work = 3;                  /* what may still happen: two ends, a retrigger */

proctype ender(byte child) {
  bool rings;
#ifdef MARK_READ_BEFORE_LOCK
  rings = marked[child];
#endif
delete_row:
  atomic { locked[child] == 0 -> locked[child] = 10 + child };
#ifndef MARK_READ_BEFORE_LOCK
  rings = marked[child];        /* DELETE … RETURNING: the row as it is under the lock */
#endif
commit:
  atomic { yard[child] = false; marked[child] = false; ended[child] = true; locked[child] = 0 };
notify:
  atomic {
    if
    :: rings -> rung[0] = true; rung[1] = true
    :: else
    fi;
    work--
  }
}

proctype retrigger() {          /* of the first child; its new row has no mark */
  if
  :: atomic { ended[0] && locked[0] == 0 -> yard[0] = true; ended[0] = false; work++; run ender(0) }
  :: skip
  fi;
  work--
}

proctype retention() {          /* switchyard.drop_partition and switchyard.remember_ends */
  atomic {
    ended[1] && locked[1] == 0 && waiting_lock == 0 ->
    dropped[1] = true;
#ifndef ENDS_NOT_REMEMBERED
    taken[1] = true;
#endif
    watching = NONE
  }
}

#ifdef A_ROW_IS_A_MARK
#define watched(child) (yard[child])
#else
#define watched(child) (yard[child] && marked[child])
#endif

inline rollback() {
  if
  :: waiting_lock == me + 1 -> waiting_lock = 0
  :: else
  fi;
  for (child : 0 .. 1) {
    if
    :: locked[child] == me + 1 -> locked[child] = 0
    :: else
    fi
  };
  rung[me] = false
}

proctype settler(byte me) {
  byte child, pick;
  bool killed = me, all_ended, first_ended, due;
look:
  atomic {                      /* nothing is remembered from an earlier look */
    child = 0; pick = 0; all_ended = false; first_ended = false; due = false;
#ifndef BELL_CLEARED_AFTER_LOOK
    rung[me] = false
#endif
  };
  atomic {                      /* switchyard.settle_waiting: due, and its row in waiting locked, or skipped */
    due = held && (watching == NONE || !(watched(watching)));
    if
    :: !due -> goto sleep
#ifdef WAITING_NOT_LOCKED
    :: due
#else
    :: due && waiting_lock == 0 -> waiting_lock = me + 1
    :: due && waiting_lock != 0 -> goto look
#endif
    fi
  };
  if
  :: !killed -> killed = true; atomic { rollback() }; goto look
  :: skip
  fi;
  atomic {                      /* switchyard.settle_one: one that is open and that nobody has locked */
    pick = NONE;
    if
    :: yard[1] && locked[1] == 0 -> pick = 1; locked[1] = me + 1
    :: !(yard[1] && locked[1] == 0) && yard[0] && locked[0] == 0 -> pick = 0; locked[0] = me + 1
    :: else
    fi
  };
  if
  :: !killed -> killed = true; atomic { rollback() }; goto look
  :: skip
  fi;
  if
  :: pick != NONE ->
    atomic { marked[pick] = true; watching = pick; locked[pick] = 0; waiting_lock = 0 };
    goto look
  :: else
  fi;
#ifdef TWO_SNAPSHOTS
  first_ended = ended[0];
  all_ended = first_ended && ended[1];
#else
  atomic { first_ended = ended[0]; all_ended = first_ended && ended[1] };
#endif
#ifdef SKIPPED_IS_ENDED
  all_ended = true;
#endif
  atomic {
    if
    :: all_ended ->
#ifdef TWO_SNAPSHOTS
      assert(ended[0] && ended[1]);
#endif
      assert(!yard[1]);
      assert(!dropped[1] || taken[1])
    :: else -> rollback(); goto look
    fi
  };
  if
  :: !killed -> killed = true; atomic { rollback() }; goto look
  :: skip
  fi;
release:
  atomic {
    assert(held);
    held = false;
    released++;
    assert(released == 1);
    waiting_lock = 0
  };
  goto look;
sleep:
#ifdef BELL_CLEARED_AFTER_LOOK
  rung[me] = false;
#endif
  asleep[me] = true;
end_asleep:
  atomic { rung[me] -> asleep[me] = false };
  goto look
}

proctype observer() {
end_observer:
  atomic {
    work == 0 && held && asleep[0] && asleep[1] && !rung[0] && !rung[1] -> assert(false)
  }
}

init {
  atomic {
    run ender(0);
    run ender(1);
    run retrigger();
    run retention();
    run settler(0);
    run settler(1);
    run observer()
  }
}
