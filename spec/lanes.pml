/* A flow with a limit: switchyard.lane_claim, the outcome, switchyard.unlock, and the end of an execution at its backend.
 *
 * ACTIONS actions of one lane, of which at most LIMIT may be in flight: dispatched, or QUEUED at the backend. Each session's row
 * (flow_session) lists what it may have in flight; a claim passes what the session still holds, and deletes the rows of sessions
 * whose life lock is free. A claim is one transaction under the lock of the flow: if its session ends, it has not happened.
 * The first action was claimed before the limits were announced (a stray): no row lists it, and it does not count.
 *
 * Checked: never more than LIMIT in flight; nothing is dispatched that is not ready; at the end every action has ended, no lock
 * is held, and no row lists anything.
 */
#define ACTIONS 2
#define WORKERS 2
#define LIMIT 1
#define RETRIES 1
#define DEATHS 1
#define PLAIN WORKERS           /* the session that claimed the stray */
#define NOBODY 255

mtype = { READY, QUEUED, ENDED };
mtype row[ACTIONS] = READY;     /* the committed rows of the yard */
byte lock[ACTIONS] = NOBODY;    /* the advisory locks of the actions */
byte listed[WORKERS];           /* flow_session: one bit for each action */
byte before[WORKERS];           /* as it was before the claim that is running */
bool busy[ACTIONS];             /* the handler of a living session runs */
byte mutex = NOBODY;            /* the advisory lock of the flow */
bool alive[WORKERS] = true;     /* a session's life lock is held for as long as it lives */
byte retries = 0;
byte deaths = 0;

#define bit(a) (1 << a)
#define flying (listed[0] | listed[1])
#define docked(a) (row[a] == QUEUED && !(flying & bit(a)))
#define counted(s) ((listed[s] & 1) + (listed[s] >> 1))
#ifdef DOCKED_NOT_COUNTED
#define taken (counted(0) + counted(1))
#else
#define taken (counted(0) + counted(1) + docked(0) + docked(1))
#endif
#define holds ((lock[0] == me) + ((lock[1] == me) << 1))
#define all_ended (row[0] == ENDED && row[1] == ENDED)
#define in_flight(a) (busy[a] || row[a] == QUEUED)
#define within_limit assert(in_flight(0) + in_flight(1) <= LIMIT)

inline leave() {                /* the transaction of the claim ends */
  if
  :: mutex == me -> mutex = NOBODY
  :: else
  fi
}

proctype conductor(byte me) {
  byte a;
  byte held;
lane_claim_mutex:
  atomic {
    if
    :: !alive[me] -> goto reconnect
#ifdef NO_MUTEX
    :: alive[me] -> skip
#else
    :: alive[me] && mutex == NOBODY -> mutex = me
#endif
    fi;
    before[0] = listed[0];
    before[1] = listed[1];
    held = holds
  };
lane_claim_flight:              /* what this session no longer holds leaves its row */
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] -> listed[me] = listed[me] & held
    fi
  };
lane_claim_sweep:               /* the row of a session whose life lock is free is deleted */
  atomic {
    if
    :: !alive[me] -> goto reconnect
#ifdef NO_LIFE_LOCK
    :: alive[me] -> listed[1 - me] = 0
#else
    :: alive[me] && !alive[1 - me] -> listed[1 - me] = 0
    :: alive[me] && alive[1 - me] -> skip
#endif
    fi
  };
lane_claim_head:                /* the head of the lane, as one snapshot has it, where there is room */
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] && row[0] == READY && !(flying & 1) && taken < LIMIT -> a = 0
    :: alive[me] && row[1] == READY && !(flying & 2) && taken < LIMIT -> a = 1
    :: alive[me] -> goto lane_claim_nothing
    fi
  };
lane_claim_try_lock:
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] && lock[a] == NOBODY -> lock[a] = me
    :: alive[me] && lock[a] != NOBODY -> goto lane_claim_nothing
    fi
  };
lane_claim_second_look:
  atomic {
    if
    :: !alive[me] -> goto reconnect
#ifdef NO_SECOND_LOOK
    :: alive[me] -> skip
#else
    :: alive[me] && row[a] != READY -> lock[a] = NOBODY; goto lane_claim_nothing
    :: alive[me] && row[a] == READY -> skip
#endif
    fi
  };
lane_claim_commit:              /* listed before it is dispatched */
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] -> listed[me] = listed[me] | bit(a); leave()
    fi
  };
dispatch:
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] -> assert(row[a] == READY); busy[a] = true; within_limit
    fi
  };
lane_claim_of_0:                /* beside the dispatch, to report: it passes all that the session still holds */
  if
#ifdef HELD_NOT_PASSED
  :: atomic { alive[me] && mutex == NOBODY -> listed[me] = 0 }
#else
  :: atomic { alive[me] && mutex == NOBODY -> listed[me] = listed[me] & holds }
#endif
  :: skip
  fi;
record_outcome:
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] ->
      busy[a] = false;
      if
      :: row[a] = ENDED
      :: row[a] == READY -> row[a] = QUEUED; within_limit
      :: retries < RETRIES -> retries++         /* BACKOFF: ready again */
      fi
    fi
  };
unlock:
  atomic {
    if
    :: !alive[me] -> goto reconnect
    :: alive[me] -> lock[a] = NOBODY
    fi
  };
  goto lane_claim_mutex;
lane_claim_nothing:
  atomic {
    leave();
    if
    :: all_ended && flying == 0 -> goto done
    :: else -> goto lane_claim_mutex
    fi
  };
reconnect:                      /* a new session: it holds nothing, and its row is empty */
  alive[me] = true;
  goto lane_claim_mutex;
done:
  skip
}

proctype stray() {              /* claimed by switchyard.claim; it may also die before its outcome */
  if
  :: row[0] = ENDED
  :: skip
  fi;
  lock[0] = NOBODY
}

proctype backend() {            /* an execution ends whenever it likes; its row is then no longer QUEUED */
  do
  :: atomic { row[0] == QUEUED -> row[0] = ENDED }
  :: atomic { row[1] == QUEUED -> row[1] = ENDED }
  :: all_ended -> break
  od
}

proctype death() {
  byte who, a;
  do
  :: deaths < DEATHS && !all_ended ->
    atomic {
      select (who : 0 .. WORKERS - 1);
      if
      :: alive[who] ->
        alive[who] = false;
        deaths++;
        if
        :: mutex == who -> mutex = NOBODY; listed[0] = before[0]; listed[1] = before[1]
        :: else
        fi;
        for (a : 0 .. ACTIONS - 1) {
          if
          :: lock[a] == who -> lock[a] = NOBODY; busy[a] = false
          :: else
          fi
        }
      :: else
      fi
    }
  :: break
  od
}

init {
  byte n;
  atomic {
    lock[0] = PLAIN;
    for (n : 0 .. WORKERS - 1) {
      run conductor(n)
    };
    run stray();
    run backend();
    run death()
  };
  timeout;
  assert(all_ended && flying == 0 && lock[0] == NOBODY && lock[1] == NOBODY)
}
