-- any: whether something waits for another action
select exists (select from switchyard.waiting);

-- settle: look at waiters whose turn it may be, a small batch
select settled, busy from switchyard.settle_waiting(%(limit)s, %(new)s);
