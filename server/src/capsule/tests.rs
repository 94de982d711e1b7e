//! Capsules on disk: what is written is read again, and only so much of it is kept.
