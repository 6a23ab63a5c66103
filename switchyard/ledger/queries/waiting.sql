-- any: whether something waits for another action, has members, or asks for a result
select exists (select from switchyard.waiting) or exists (select from switchyard.sets where not settled)
  or exists (select from switchyard.reuse where role = 'seeks') or exists (select from switchyard.reuse where role = 'leads');

-- settle: look at waiters whose turn it may be, a small batch
select settled, busy from switchyard.settle_waiting(%(limit)s, %(new)s);

-- settle_sets: look at sets that may have ended, a small batch
select settled, busy from switchyard.settle_sets(%(limit)s);

-- settle_reuse: look at the keys that actions with reuse wait for, a small batch
select settled, busy, reused, led, followed from switchyard.settle_reuse(%(limit)s);

-- submit_items: submit the next items of campaigns that have room
select settled, busy from switchyard.submit_items();
