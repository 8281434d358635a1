"""What is asked of the tables, one module for each noun. Functions take and return records."""
