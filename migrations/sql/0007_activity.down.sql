drop table if exists switchyard.activity;
