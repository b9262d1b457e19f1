sources := token.c http.c
