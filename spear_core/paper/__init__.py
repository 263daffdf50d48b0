"""The paper's printed figures beside ours, and where the paper does not hold."""
