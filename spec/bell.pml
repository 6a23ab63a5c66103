/* The wake-up protocol: switchyard.ring on the writers' side, arming and sleeping on the conductors' (worker/wakeup.py).
 *
 * WRITERS transactions that each make one action ready, and WORKERS conductors of one action name. A transaction that
 * submitted may stay open for ever. Naps end; there is no poll, which would hide a lost wake-up.
 *
 * A commit is three steps, in the order of Postgres: rows become visible, locks are released, notifications arrive.
 *
 * Checked: once every transaction has committed or stays open, no conductor sleeps, or waits for the bell lock, beside a
 * ready action. A peer that naps would take that action half a second later, which is no excuse.
 */
#define WRITERS 3
#define WORKERS 2

byte ready = 0;                 /* actions that are visible and not claimed */
byte shared = 0;                /* writers that hold the bell lock, shared */
bool exclusive = false;         /* a conductor holds it: armed */
bool rung[WORKERS];             /* a notification has arrived */
byte open = 0;                  /* transactions that stay open for ever */
byte over = 0;                  /* transactions that have committed and notified */
mtype = { AWAKE, ASLEEP, WAITING };
mtype state[WORKERS] = AWAKE;

inline deliver() {
  byte listener;
  for (listener : 0 .. WORKERS - 1) {
    rung[listener] = true
  }
}

proctype writer() {
  bool holds = false, rings = false;
ring:                           /* switchyard.ring: pg_try_advisory_xact_lock_shared */
  atomic {
    if
    :: !exclusive -> shared++; holds = true
    :: exclusive -> rings = true
    fi
  };
#ifdef SHARED_LOCK_NOT_HELD
  atomic {
    if
    :: holds -> shared--; holds = false
    :: else
    fi
  };
#endif
  if
  :: open == 0 -> open++; goto stays_open
  :: skip
  fi;
commit_visible:
  ready++;
commit_release:
  atomic {
    if
    :: holds -> shared--
    :: else
    fi
  };
commit_notify:
  atomic {
    if
    :: rings -> deliver()
    :: else
    fi;
    over++
  };
stays_open:
  skip
}

proctype worker(byte me) {
  bool armed = false;
look:                           /* the claim: a new statement, which sees what is visible now */
  atomic {
    state[me] = AWAKE;
    rung[me] = false;
    ready = 0
  };
  if
  :: armed -> goto sleep
  :: else
  fi;
arm:                            /* pg_try_advisory_lock; where it is not got, nap and look */
#ifdef ARMING_WAITS
  state[me] = WAITING;
end_waiting:
  atomic { shared == 0 && !exclusive -> exclusive = true; armed = true; state[me] = AWAKE };
#else
  atomic {
    if
    :: shared == 0 && !exclusive -> exclusive = true; armed = true
    :: else -> goto look
    fi
  };
#endif
#ifndef NO_LOOK_AFTER_ARMING
  goto look;
#endif
sleep:
  state[me] = ASLEEP;
end_asleep:
  rung[me] -> goto look
}

#define deaf(who) (state[who] == WAITING || (state[who] == ASLEEP && !rung[who]))

proctype observer() {
end_observer:
  atomic {
    over + open == WRITERS && ready > 0 && (deaf(0) || deaf(1)) -> assert(false)
  }
}

init {
  byte n;
  atomic {
    for (n : 1 .. WRITERS) {
      run writer()
    };
    for (n : 0 .. WORKERS - 1) {
      run worker(n)
    };
    run observer()
  }
}
