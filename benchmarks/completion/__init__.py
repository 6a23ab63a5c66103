"""P7: what caboose does with ended workflows, beside a loop that only lists and deletes them."""
