"""Building, checking and running msopprof command lines; watching folders."""
