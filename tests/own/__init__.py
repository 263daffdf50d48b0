"""Tests of graphs of one's own."""
