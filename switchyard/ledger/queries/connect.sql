-- pin: settings whose pinned value depends on the one in force, or that older servers do not have
select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') in ('off', 'local')
union all
select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) <> '0';
