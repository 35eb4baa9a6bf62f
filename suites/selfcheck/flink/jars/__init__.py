"""Jobs as somebody else would write them."""
