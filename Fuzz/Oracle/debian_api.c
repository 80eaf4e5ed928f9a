// A source of llhttp, which scripts/fetch-llhttp brings: nothing of it is kept here.
#include <llhttp/api.c>
