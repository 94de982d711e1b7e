//! What a search finds in which file, and in what order.
