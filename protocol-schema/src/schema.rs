//! From the method table to `schema.json` and `openrpc.json`. It describes the types and adds nothing of its own.
