drop function switchyard.verify();
