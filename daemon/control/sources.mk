sources := reload.c silence_requests.c requests.c
