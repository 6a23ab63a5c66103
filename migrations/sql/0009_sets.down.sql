-- CASCADE takes along the functions and views of migrations/current that are made of these.
drop table switchyard.sets, switchyard.tally, switchyard.campaign, switchyard.campaign_item cascade;
drop type switchyard.mark cascade;
