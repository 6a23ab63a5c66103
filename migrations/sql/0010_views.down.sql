drop view switchyard.fleet;
drop view switchyard.queue;
drop view switchyard.inbox;
