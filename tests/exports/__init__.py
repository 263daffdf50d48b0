"""Tests of what is taken along."""
