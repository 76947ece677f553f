# A text as elements of an array of C strings, a line each: one literal may not be that long.
s/\\/&&/g
s/"/\\"/g
s/^/"/
s/$/\\n",/
