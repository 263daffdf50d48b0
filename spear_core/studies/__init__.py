"""Many runs, one question each: what carries the gain, what a lie costs, whether a model holds."""
