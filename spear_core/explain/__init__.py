"""One node, one prototype, one study: the numbers behind it, and sentences made from them."""
