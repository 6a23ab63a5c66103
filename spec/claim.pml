/* The claim and its fence: switchyard.claim, the outcome (an event and its roll-up), switchyard.unlock, cancel.
 *
 * One action, WORKERS conductors, LAST attempts, up to DEATHS sessions that end at any step, and one administrator. A
 * session that ends frees its locks at once; its conductor notices only when it uses the session next.
 *
 * Checked: an attempt whose outcome is recorded is not dispatched again; two sessions that live never dispatch the action
 * at once; only the holder of the lock records an outcome; one end counts; at the end nothing is left, not even a lock.
 */
#define WORKERS 3
#define LAST 2
#define DEATHS 1
#define NOBODY 255

bool ended = false;             /* the committed row of the yard: gone */
byte attempt = 0;               /* and its attempt */
byte lock = NOBODY;             /* the advisory lock of the action: the session that holds it */
bool alive[WORKERS] = true;     /* the sessions */
byte dispatching = NOBODY;      /* the living session whose handler runs */
byte dispatched[LAST + 1];      /* dispatches that a living session began, by attempt */
byte deaths = 0;
byte ends = 0;

#ifdef UNLOCK_BEFORE_COMMIT
#define UNLOCKED_EARLY true
#else
#define UNLOCKED_EARLY false
#endif

inline unlock() {
  lock = NOBODY
}

inline roll_up_end() {          /* judge: of two ends the first counts, the other is ignored */
  if
  :: ended -> skip
  :: else -> ended = true; ends++; assert(ends == 1)
  fi
}

inline outcome() {              /* the event of the outcome commits: the next attempt, or the end */
#ifndef NO_FENCE
  assert(alive[me]);
#endif
  assert(lock == me || UNLOCKED_EARLY);
  if
  :: !ended && attempt < LAST -> attempt++
  :: roll_up_end()
  fi;
  if
  :: dispatching == me -> dispatching = NOBODY
  :: else
  fi
}

proctype conductor(byte me) {
  byte seen;
claim_page:                     /* claim, step 2: candidates, as one snapshot has them */
  atomic {
    if
    :: ended -> goto done
    :: else -> seen = attempt
    fi
  };
claim_try_lock:
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] && lock == NOBODY -> lock = me
    :: alive[me] && lock != NOBODY -> goto claim_page
    fi
  };
#ifndef NO_SECOND_LOOK
claim_second_look:              /* claim, step 3: a new statement, so a new snapshot */
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] && ended -> unlock(); goto done
    :: alive[me] && !ended -> seen = attempt
    fi
  };
#endif
dispatch:
  atomic {
    if
    :: alive[me] ->
      assert(seen == attempt);
      assert(dispatching == NOBODY);
      dispatching = me;
      dispatched[seen]++;
      assert(dispatched[seen] <= 1 + deaths)
    :: else -> skip             /* it does not know yet: it may send, and cannot record */
    fi
  };
#ifdef UNLOCK_BEFORE_COMMIT
  atomic {
    if
    :: alive[me] -> unlock(); dispatching = NOBODY
    :: else -> goto reconnect
    fi
  };
#endif
record_outcome:
  atomic {
    if
#ifdef NO_FENCE
    :: outcome()                /* over any connection */
#else
    :: alive[me] -> outcome()
    :: !alive[me] -> goto reconnect
#endif
    fi
  };
#ifndef UNLOCK_BEFORE_COMMIT
  atomic {
    if
    :: alive[me] -> unlock()
    :: else -> goto reconnect
    fi
  };
#endif
  goto claim_page;
reconnect:                      /* a new session: it holds nothing */
  alive[me] = true;
  goto claim_page;
done:
  skip
}

proctype death() {
  byte who;
  do
  :: deaths < DEATHS ->
    atomic {
      select (who : 0 .. WORKERS - 1);
      if
      :: alive[who] ->
        alive[who] = false;
        deaths++;
        if
        :: lock == who -> lock = NOBODY
        :: else
        fi;
        if
        :: dispatching == who -> dispatching = NOBODY
        :: else
        fi
      :: else
      fi
    }
  :: break
  od
}

proctype administrator() {      /* cancel takes no advisory lock: it may end the action at any time, or not at all */
  if
  :: atomic { roll_up_end() }
  :: skip
  fi
}

init {
  byte n;
  atomic {
    for (n : 0 .. WORKERS - 1) {
      run conductor(n)
    };
    run death();
    run administrator()
  };
  timeout;
  assert(ended && lock == NOBODY)
}
