/* Arrivals: how switchyard.claim finds what became ready behind its position, by the transaction that made it so.
 *
 * WRITERS transactions that each make one action ready and commit whenever they like. Each claim notes a snapshot, reads what the
 * snapshot of the claim before does not show (switchyard.arrivals), and remembers its own for the next one of its session.
 *
 * Checked: when all have committed, the next claim leaves nothing unread.
 */
#define WRITERS 3
#define ALL 7

byte committed = 0;             /* transactions, one bit each */
byte found = 0;                 /* arrivals that a claim has read */

proctype writer(byte xid) {
  committed = committed | (1 << xid)
}

inline claim() {
#ifndef SNAPSHOT_AFTER_SCAN
  noted = committed;            /* pg_current_snapshot, before anything is read */
#endif
  read = committed & ~remembered;   /* the scan: a statement of its own */
  found = found | read;
#ifdef SNAPSHOT_AFTER_SCAN
  noted = committed;
#endif
  remembered = noted
}

proctype claimer() {
  byte noted, read;
  byte remembered = 0;
  do
  :: claim()
  :: committed == ALL -> claim(); break
  od;
  assert(found == ALL)
}

init {
  byte n;
  atomic {
    for (n : 0 .. WRITERS - 1) {
      run writer(n)
    };
    run claimer()
  }
}
