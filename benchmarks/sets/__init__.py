"""Sets and campaigns: many members with one end, a feeder that is killed, live work beside a campaign."""
