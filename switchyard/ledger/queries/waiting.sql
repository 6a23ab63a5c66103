-- any: whether something waits for another action, or has members
select exists (select from switchyard.waiting) or exists (select from switchyard.sets where not settled);

-- settle: look at waiters whose turn it may be, a small batch
select settled, busy from switchyard.settle_waiting(%(limit)s, %(new)s);

-- settle_sets: look at sets that may have ended, a small batch
select settled, busy from switchyard.settle_sets(%(limit)s);

-- submit_items: submit the next items of campaigns that have room
select settled, busy from switchyard.submit_items();
