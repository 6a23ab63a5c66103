drop function switchyard.give_tokens(text, double precision, integer);
drop function switchyard.take_tokens(text, double precision, double precision, integer);
drop table switchyard.bucket;
drop function switchyard.mark_lost(interval);
drop table switchyard.worker;
