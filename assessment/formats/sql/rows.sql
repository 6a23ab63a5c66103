-- Every row of a table, in the order it was written.
select <columns> from <table>;
