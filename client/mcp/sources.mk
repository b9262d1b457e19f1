sources := mcp.c tools.c
