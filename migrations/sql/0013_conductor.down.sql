drop function switchyard.pause_where_lost(double precision, integer, interval);
drop function switchyard.waiting_names();
drop function switchyard.register_worker(text, text, text, text, integer, text, text, integer);
