drop table switchyard.journal;
drop table switchyard.idempotency;
drop table switchyard.yard;
drop table switchyard.event;
drop sequence switchyard.event_id;
drop table switchyard.thread;
drop table switchyard.action;
