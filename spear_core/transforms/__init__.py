"""What happens to graphs and uploads on the way: noise, lies, privacy; the same type out as in."""
