"""What stays in memory from call to call: beside an object, on shelves, within one budget."""
