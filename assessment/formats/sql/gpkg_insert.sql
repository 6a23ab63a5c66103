-- One row of a layer or table.
insert into <table> (<columns>) values (<values>);
